"""Build requirements of the bridge to XLA: the headers that jax installs. Nothing of jax is linked."""

from __future__ import annotations

from native_build import Build, Unavailable
from setuptools import Extension


def configure(extension: Extension, build: Build) -> None:
    """Add the headers of jax's foreign function interface and the C++ file with the handlers."""
    try:
        from jax.ffi import include_dir
    except ImportError as error:
        raise Unavailable(f"it needs jax at build time: {error}") from error
    extension.sources.append("envpool/xla/handlers.cpp")
    extension.extra_compile_args += ["-std=c++17", f"-isystem{include_dir()}"]
