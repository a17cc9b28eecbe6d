"""Loading the compiled modules of this package, which a build may lack."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from envpool.distribution import NAME


def load_compiled(module: str, requirements: str = "") -> ModuleType:
    """Import a module that this build of the package may lack.

    Parameters
    ----------
    module : str
        Full name of the module.
    requirements : str
        A sentence, or the beginning of one, that the error puts before the command which builds the package: what has
        to be installed first.

    Raises
    ------
    ImportError
        The build lacks the module; the text says how to build it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module or not module.startswith("envpool."):
            raise
        raise ImportError(
            f"{module} is not in this build of envpool: its sources could not be downloaded, or they did not compile. "
            f"{requirements and requirements + ' '}`pip install -v --no-binary {NAME} {NAME}` builds it again and "
            "says what is missing"
        ) from error
