"""Builds the synthetic plug-in against the installed envpool, as a separate package would."""

from setuptools import Extension, setup

import envpool

setup(
    name="envpool-synthetic",
    version="0",
    py_modules=["envpool_synthetic"],
    ext_modules=[
        Extension(
            "_envpool_synthetic",
            ["synthetic.c", "crowd.c", "turns.c"],
            include_dirs=[envpool.get_include()],
            extra_compile_args=[
                "-O2",
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Wno-unused-parameter",
                "-Wno-missing-field-initializers",
            ],
            libraries=["m"],
        )
    ],
)
