"""The models of declarations: files and texts of XML."""

from __future__ import annotations

import warnings
from pathlib import Path

from envpool.mujoco.base.model import Model, load_file, load_text, register_plugins
from envpool.mujoco.declared.declaration import Declaration, digest


def is_text(declaration: Declaration) -> bool:
    """Return whether the model is XML text instead of a file."""
    return declaration.xml.lstrip().startswith("<")


def path_of(declaration: Declaration) -> Path:
    """Return the path of the XML file."""
    return Path(declaration.xml).expanduser()


def source_of(declaration: Declaration) -> str:
    """Return where the model comes from, in the words of error texts."""
    if is_text(declaration):
        return f"the XML text {digest(declaration.xml.encode())}"
    return f"xml {str(path_of(declaration))!r}"


def load_source(declaration: Declaration) -> Model:
    """Compile the model; warnings of MuJoCo's compiler become Python warnings."""
    register_plugins()
    if is_text(declaration):
        assets = {asset.name: asset.data for asset in declaration.assets}
        model = load_text(declaration.xml, assets, source_of(declaration))
    else:
        model = load_file(path_of(declaration), "xml")
    if model.remarks:
        warnings.warn(f"{model.source}: {model.remarks}", stacklevel=2)
    return model
