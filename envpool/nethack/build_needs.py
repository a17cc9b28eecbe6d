"""The games are copies of a library of nle, which only the loader of Linux handles as copy.h needs it."""

from __future__ import annotations

from native_build import Build, needs_linux
from setuptools import Extension


def configure(extension: Extension, build: Build) -> None:
    """Refuse a portable build."""
    needs_linux(build, "NetHack")
