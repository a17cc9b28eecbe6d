"""Packaging: the sdist contains every source, the wheel builds from it, and neither contains anything else."""

import ast
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import envpool
from tests.support.builds import build_extension
from tests.support.tasks import WITHOUT_MAPS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = {".py", ".pyx", ".pxd", ".pyi", ".h", ".cpp", ".cc"}


def run(*command, **options):
    """Run a command, without this process's PYTHONPATH; return its standard output."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | options.pop("env", {})
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, **options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout.strip()


def files(folder="."):
    """Return the files of the working tree under a folder, relative to its root: tracked ones, and new ones."""
    names = run("git", "ls-files", "-co", "--exclude-standard", folder, cwd=ROOT).splitlines()
    return [name for name in names if (ROOT / name).is_file()]


def sources(folder):
    """Return the files that a build or a user of the package may need."""
    return {name for name in files(folder) if Path(name).suffix in SOURCES}


# ---- in the tree -----------------------------------------------------------------------------------------------------


def test_the_version_stands_in_one_place():
    assert "version" not in PROJECT and PROJECT["dynamic"] == ["version"]
    tree = ast.parse((ROOT / "envpool" / "__init__.py").read_text())
    literal = [n.value.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__version__"]
    assert literal == [envpool.__version__]
    assert f"## {envpool.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_licences_of_all_compiled_parts_are_named():
    licences = {
        "LICENSE": "Apache-2.0",
        "LICENSE.GPL-2": "GPL-2.0-only",
        "LICENSE.third-party": "BSD-3-Clause AND Zlib",
    }
    assert PROJECT["license-files"] == list(licences)
    assert set(PROJECT["license"].split(" AND ")) == set(" AND ".join(licences.values()).split(" AND "))
    assert all((ROOT / name).read_text() for name in licences)


def test_get_include_holds_the_headers():
    assert {p.name for p in Path(envpool.get_include(), "envpool").glob("*.h")} >= {"env.h", "rng.h", "atomic.h"}


def test_every_core_module_that_python_code_or_a_stub_imports_has_a_stub():
    imported = set()
    for source in [*(ROOT / "envpool").rglob("*.py"), *(ROOT / "envpool").rglob("*.pyi")]:
        imported |= set(re.findall(r"from envpool\._core\.(\w+) import", source.read_text()))
    assert {"definition", "pool"} <= imported
    stubs = {path.stem for path in (ROOT / "envpool" / "_core").glob("*.pyi")}
    assert stubs == imported


def test_every_folder_is_a_package():
    for source in (ROOT / "envpool").rglob("*.py*"):
        if source.suffix in SOURCES and "include" not in source.parts:
            assert (source.parent / "__init__.py").exists(), source


def test_levels_of_optimisation_stand_where_setup_reads_them():
    for source in (ROOT / "envpool").rglob("*.pyx"):
        text = source.read_text()
        if re.search(r"(?i)^#.*\boptimi[sz]e:", text, re.MULTILINE):
            assert re.match(r"(#.*\n)?# optimize: (-O1|-Og)\n", text), source


# ---- built -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """Return the path of an sdist of the working tree, for which nothing is compiled or translated."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = folder / "tree"
    for name in files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    build = f"from setuptools import build_meta; print(build_meta.build_sdist({str(folder)!r}))"
    made = folder / run(sys.executable, "-c", build, cwd=copy).splitlines()[-1]
    assert not (copy / "build").exists()
    return made


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Return the path of a wheel built from the sdist, in isolation.

    The build takes Cython's output from the working tree, if the sdist has exactly the sources of this output.
    """
    folder = tmp_path_factory.mktemp("wheel")
    env = {"ENVPOOL_TRANSLATED": str(ROOT / "build" / "release")}
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, sdist, env=env)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return the Python of a fresh environment with the wheel and what the tasks of all families need."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    run(python, "-m", "pip", "install", "-q", f"{wheel}[all,nle]", *requires)
    run(folder / "bin" / "envpool", "fetch-procgen", "--into", "package")
    return python


@pytest.mark.slow
def test_the_sdist_holds_every_source(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert sdist.name == f"envpool_cython-{envpool.__version__}.tar.gz"
    for folder in ("envpool", "include", "tests", "examples"):
        assert sources(folder) <= names
    assert {"setup.py", "pyproject.toml", "README.md", "CHANGELOG.md", *PROJECT["license-files"]} <= names
    assert not [name for name in names if name.startswith(("build/", "out/")) or name.endswith((".so", ".pyc"))]
    assert not [name for name in names if name.endswith(".c") and str(Path(name).with_suffix(".pyx")) in names]


@pytest.mark.slow
def test_the_wheel_holds_what_is_needed_and_no_more(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = email.message_from_bytes(archive.read(next(n for n in names if n.endswith("/METADATA"))))
    built = {n for n in names if n.endswith(".so")}
    pyx = {n for n in sources("envpool") if n.endswith(".pyx")}
    in_core = {n for n in pyx if n.startswith("envpool/_core/")}  # one library, see envpool/_core/__init__.py
    assert {n.partition(".")[0] + ".pyx" for n in built} == pyx - in_core | {"envpool/_core/pool.pyx"}
    assert {n for n in sources("envpool") if n.endswith((".py", ".pxd", ".pyi"))} | {"envpool/py.typed"} <= names
    headers = {f"envpool/{n}" for n in sources("include")}
    programs = {f"envpool/{n}" for n in sources("examples") if not n.startswith("examples/native_term/")}
    programs |= {"envpool/examples/out_of_tree_env/pyproject.toml"}
    pages = {f"envpool/{n}" for n in files("docs") if Path(n).match("docs/*.md")}
    info = f"envpool_cython-{envpool.__version__}.dist-info/"
    allowed = headers | programs | pages | built | sources("envpool") - pyx | {"envpool/py.typed"}
    assert headers | programs | pages <= names
    assert {n for n in names if not n.startswith(info)} <= allowed
    assert {f"{info}licenses/{name}" for name in PROJECT["license-files"]} <= names
    assert metadata["Version"] == envpool.__version__
    assert metadata["License-Expression"] == PROJECT["license"]


@pytest.mark.slow
def test_the_installed_package_works(installed, tmp_path):
    code = """
import importlib.metadata, pathlib, sys, envpool
assert importlib.metadata.version("envpool-cython") == envpool.__version__
assert "site-packages" in envpool.__file__ and "site-packages" in envpool.get_include()
assert pathlib.Path(envpool.get_include(), "envpool", "env.h").is_file()
for name in set(envpool.list_all_envs()) - set(sys.argv[1:]):
    with envpool.make(name, "gymnasium", num_envs=2) as pool:
        pool.reset()
        pool.step(pool.sample_actions())
print("works")
"""
    assert run(installed, "-c", code, *WITHOUT_MAPS, cwd=tmp_path) == "works"
    script = installed.parent / "envpool"
    assert "CartPole-v1" in run(script, "list", cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["examples/out_of_tree_env", "tests/support/synthetic"])
def test_plug_ins_build_against_the_installed_package(installed, tmp_path, source):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    built = build_extension(ROOT / source, tmp_path, python=str(installed), env=env)
    code = """
import importlib, sys, envpool
sys.path.insert(0, sys.argv[1])
before = set(envpool.list_all_envs())
importlib.import_module({"out_of_tree_env": "random_walk", "synthetic": "envpool_synthetic"}[sys.argv[2]])
mine = set(envpool.list_all_envs()) - before
for name in mine:
    with envpool.make(name, "gymnasium", num_envs=4) as pool:
        pool.reset()
        for _ in range(10):
            actions = pool.sample_actions()  # for their form
            actions[:] = pool.single_action_space.start
            pool.step(actions)
print(len(mine) > 0)
"""
    assert run(installed, "-c", code, built, Path(source).name, cwd=tmp_path) == "True"
