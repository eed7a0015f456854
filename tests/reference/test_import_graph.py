"""The imports of the reference run one way: no module needs itself, by however many steps."""

import ast
import graphlib
from pathlib import Path

import pytest

from autograder.lessons import places

FILES = {
    ".".join(path.relative_to(places.SOLUTIONS).with_suffix("").parts).removesuffix(".__init__"): (
        path
    )
    for path in places.SOLUTIONS.rglob("*.py")
}


def imported(path: Path) -> set[str]:
    """The modules of the reference that this one names when it is imported.

    What stands in a package is looked up as a module first: `from minijax.lax import basic` needs
    `minijax.lax.basic`, and `from minijax import lax` the façade `minijax.lax`.
    """
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in FILES else node.module for name in names)
    return found & FILES.keys()


@pytest.mark.parametrize("package", ["microjax", "minijax"])
def test_no_module_imports_itself_by_a_detour(package):
    graph = {name: imported(path) for name, path in FILES.items() if name.split(".")[0] == package}
    assert sum(map(len, graph.values())) > len(graph)
    graphlib.TopologicalSorter(graph).prepare()


def test_no_module_imports_jax_not_even_inside_a_function():
    texts = [path.read_text(encoding="utf-8") for path in FILES.values()]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    assert "numpy" in named
    assert [name for name in named if name.split(".")[0] == "jax"] == []
    assert not any(word in text for text in texts for word in ("import_module(", "__import__("))
