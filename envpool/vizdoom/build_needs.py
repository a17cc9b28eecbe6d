"""Adds the code that resizes images to the extension of this folder."""

from __future__ import annotations

from pathlib import Path

from native_build import Build, needs_linux, static_library
from setuptools import Extension

RASTER = Path("envpool/raster")  # setup.py runs in the root of the tree


def configure(extension: Extension, build: Build) -> None:
    """Add the library, librt for shared memory, and the C++ standard. Engine processes need prctl() and /dev/shm."""
    needs_linux(build, "ViZDoom")
    headers = [*RASTER.glob("*.h"), *Path("include/envpool").glob("*.h")]
    flags = [*build.flags, "-std=c++17", "-Iinclude"]
    library = static_library(build, "resizing", sorted(RASTER.glob("*.cpp")), [], flags, headers)
    extension.extra_objects.append(str(library))
    extension.extra_compile_args.append("-std=c++17")
    extension.libraries.append("rt")
