"""The modules of the package import each other in one direction only: the import graph has no cycle.

The graph counts imports inside functions, and the imports and cimports of Cython. It leaves out imports under
``if TYPE_CHECKING:``, which never run, and ``import_module``, by which the registry loads the families and the API
styles that its tables name.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import envpool

ROOT = Path(envpool.__file__).parent
SUFFIXES = (".py", ".pyx", ".pxd")
CYTHON_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(?P<module>[\w.]+)[ \t]+c?import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|^[ \t]*c?import[ \t]+(?P<modules>[\w., \t]+)$",
    re.MULTILINE,
)


def module_of(path: Path) -> str:
    """Return the dotted name of a source file: ``envpool/api/__init__.py`` is ``envpool.pools.styles``."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def python_imports(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Yield each imported module with the names that are imported from it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, []) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "the package uses absolute imports"
            yield str(child.module), [alias.name for alias in child.names]
        elif is_type_checking(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield from python_imports(other)
        else:
            yield from python_imports(child)


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
        for module, names in python_imports(ast.parse(text)) if path.suffix == ".py" else cython_imports(text):
            for target in [f"{module}.{n}" for n in names if f"{module}.{n}" in graph] or [module]:
                if target in graph and target != name:
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


def test_the_graph_is_read_from_all_sources():
    graph = import_graph()
    assert "envpool.tasks.spec" in graph["envpool.pools.pool"]
    assert "envpool.config.spaces" in graph["envpool.tasks.spec"]
    assert "envpool.xla.functions" in graph["envpool.pools.pool"], "imports inside functions count"
    assert "envpool.pools.pool" not in graph["envpool.xla.functions"], "imports for type checking do not count"
    assert "envpool._core.pool" in graph["envpool.xla.bridge"], "cimports count"


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "c"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_cycle():
    assert cycles(import_graph()) == []


def test_what_each_layer_leaves_alone():
    """The registry knows no pool and no API style; the pool knows neither the registry nor a style."""
    graph = import_graph()
    reached: dict[str, set[str]] = {}
    for start in ("envpool.tasks.registry", "envpool.pools.pool"):
        reached[start] = set()
        pending = [start]
        while pending:
            for other in graph[pending.pop()] - reached[start]:
                reached[start].add(other)
                pending.append(other)
    forbidden = ("envpool.pools.styles", "envpool.registration", "envpool.gymnasium_api.ids", "envpool.pools.classes")
    for start, modules in reached.items():
        assert not [m for m in modules if m.startswith(forbidden)], start
    assert not [m for m in reached["envpool.tasks.registry"] if m in ("envpool.pools.pool", "envpool._core.pool")]
    assert "envpool.tasks.registry" not in reached["envpool.pools.pool"]
