"""The modules of the package import each other in one direction only.

The graph counts every import: those inside functions, those for type checkers, those of Cython, and texts that name a
module. It leaves out the texts in the task tables (``registration.py``), by which a task names its module, and imports
of a module whose name is not written down, by which the table finds the families and `pool_class` the API styles.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import envpool

ROOT = Path(envpool.__file__).parent
SUFFIXES = (".py", ".pyi", ".pyx", ".pxd")
CYTHON_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(?P<module>[\w.]+)[ \t]+c?import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|^[ \t]*c?import[ \t]+(?P<modules>[\w., \t]+)$",
    re.MULTILINE,
)

#: The layers of the package: each imports from itself and from those before it. A name stands for a folder or a module
#: of the package; "families" stands for all folders with task tables, and "upstream" for the modules in them that
#: `envpool.verify` looks for.
LAYERS = (
    (
        "_core",
        "_support",
        "errors",
        "env",
        "scaffold",
        "records",
        "replay",
        "numerics",
        "raster",
    ),
    ("config",),
    ("native",),
    ("transforms",),
    ("tasks",),
    ("sampling", "xla"),
    ("pools",),
    ("gymnasium_api",),
    ("rollout",),
    ("python_envs",),
    ("families",),
    ("mujoco.declared",),
    ("registration",),
    ("verify", "evaluation", "training"),
    ("upstream", "adapters"),
    ("cli", "entry", "python", "__init__", "__main__"),
)


def module_of(path: Path) -> str:
    """Return the dotted name of a source file: ``envpool/tasks/__init__.py`` is ``envpool.tasks``."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python_imports(tree: ast.AST, has_texts: bool = True) -> Iterator[tuple[str, list[str]]]:
    """Yield each module that Python code imports, or names in a text, with the names that are imported from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "the package uses absolute imports"
            yield str(node.module), [alias.name for alias in node.names]
        elif has_texts and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.partition(":")[0], []


def cython_imports(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each module that Cython code imports or cimports with the names that are imported from it."""
    text = re.sub(r'"""[\s\S]*?"""|#[^\n]*', "", text)
    for found in CYTHON_IMPORT.finditer(text):
        if found["module"]:
            names = found["names"].strip("()").split(",")
            yield found["module"], [name.split()[0] for name in names if name.strip()]
        else:
            yield from ((name.split()[0], []) for name in found["modules"].split(",") if name.strip())


def import_graph() -> dict[str, set[str]]:
    """Return the modules of the package that each of its modules imports."""
    files = [path for suffix in SUFFIXES for path in ROOT.rglob(f"*{suffix}")]
    graph: dict[str, set[str]] = {module_of(path): set() for path in files}
    for path in files:
        text = path.read_text()
        name = module_of(path)
        has_texts = path.name != "registration.py"
        imports = python_imports(ast.parse(text), has_texts) if path.suffix in (".py", ".pyi") else cython_imports(text)
        for module, names in imports:
            for target in [f"{module}.{n}" for n in names if f"{module}.{n}" in graph] or [module]:
                if target in graph and target not in (name, "envpool"):
                    graph[name].add(target)
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other (strongly connected components; Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            start = stack.index(node)
            if len(stack) - start > 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


@functools.cache
def families() -> set[str]:
    """Return the folders of the package that contain task tables."""
    return {path.relative_to(ROOT).parts[0] for path in ROOT.glob("*/**/registration.py")}


def layer_of(module: str) -> int:
    """Return the number of the layer of a module."""
    parts = module.split(".")[1:] or ["__init__"]
    name = parts[0]
    if name in families():
        name = "upstream" if parts[-1] == "upstream" else "families"
    if parts[:2] == ["mujoco", "declared"]:
        name = "mujoco.declared"
    return next(k for k, names in enumerate(LAYERS) if name in names)


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return import_graph()


def test_the_graph_is_read_from_all_sources(graph):
    assert "envpool.tasks.spec" in graph["envpool.pools.env_pool"]
    assert "envpool.config.spaces" in graph["envpool.tasks.spec"]
    assert "envpool.xla.functions" in graph["envpool.pools.env_pool"], "imports inside functions count"
    assert "envpool.tasks.spec" in graph["envpool.registration"], "imports for type checkers count"
    assert "envpool.gymnasium_api.vector_env" in graph["envpool.gymnasium_api.ids"], "texts count"
    assert "envpool._core.pool" in graph["envpool.xla.bridge"], "cimports count"


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "c"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_cycle(graph):
    assert cycles(graph) == []


def test_layers(graph):
    upwards = [f"{m} imports {o}" for m in graph for o in graph[m] if layer_of(o) > layer_of(m)]
    assert not upwards, "\n".join(sorted(upwards))


def test_who_names_a_family(graph):
    """Families are found by their task tables, and do not know each other."""
    named = {
        (m, o)
        for m in graph
        for o in graph[m]
        if o.split(".")[1:2] != m.split(".")[1:2] and o.split(".")[1] in families()
    }
    named.remove(("envpool", "envpool.mujoco.declared.make"))  # make_mujoco
    assert not named
