"""The models of declarations: files and texts of XML."""

from __future__ import annotations

from pathlib import Path

from envpool.mujoco.base.model import Model, load_file, load_text
from envpool.mujoco.base.model_files import load_users_model, users_path
from envpool.mujoco.declared.declaration import Declaration, digest, is_text


def path_of(declaration: Declaration) -> Path:
    """Return the path of the XML file."""
    return users_path("xml", declaration.xml)


def source_of(declaration: Declaration) -> str:
    """Return where the model comes from, in the words of error texts."""
    if is_text(declaration.xml):
        return f"the XML text {digest(declaration.xml.encode())}"
    return f"xml {str(path_of(declaration))!r}"


def load_source(declaration: Declaration) -> Model:
    """Compile the model."""
    if not is_text(declaration.xml):
        return load_users_model(load_file, path_of(declaration), "xml")
    assets = {asset.name: asset.data for asset in declaration.assets}
    return load_users_model(load_text, declaration.xml, assets, source_of(declaration))
