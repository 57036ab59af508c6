"""Nothing of ours loads what may run code: pickles, arrays of objects, YAML tags, text as code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "gristmill"
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
CALLS = {"eval", "exec", "np.load", "numpy.load", "yaml.unsafe_load", "yaml.full_load", "torch.load", "os.system"}
LOADERS = {"yaml.Loader", "yaml.FullLoader", "yaml.UnsafeLoader", "yaml.CLoader", "yaml.CFullLoader"}
# Orders of a cluster's ranks, by their submitter, in the run's own folder: not input, but see docs/evidence.md.
OWN = {"cluster/submission.py": ["pickle"]}


def dangers(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield node.module or ""
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in LOADERS:
            yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            if ast.unparse(node.func) in CALLS:
                yield ast.unparse(node)
            switches = (word for word in node.keywords if word.arg in ("allow_pickle", "trust_remote_code"))
            yield from (ast.unparse(word) for word in switches if ast.unparse(word.value) != "False")


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from dill import loads", "np.load(f)", "yaml.load(x, yaml.Loader)", "f(allow_pickle=True)"],
)
def test_the_dangers_are_seen(text: str) -> None:
    assert list(dangers(text))


def test_there_are_none() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 200
    found = {str(path.relative_to(SOURCE)): list(dangers(path.read_text("utf-8"))) for path in files}
    assert {name: what for name, what in found.items() if what} == OWN
