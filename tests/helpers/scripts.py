"""The scripts in ``examples`` and ``docs``, as modules."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.helpers.paths import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def example(name: str) -> ModuleType:
    """The example of that name."""
    return script(next(path for path in EXAMPLES if path.stem == name))


def script(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for it
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]  # by whose name a cluster could not find its functions
    return module


def lines_of(path: Path, function: str) -> int:
    """Lines of code in the body of a function of a script, without its docstring."""
    text = path.read_text(encoding="utf-8")
    found = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == function]
    body = [statement for statement in found[0].body if not isinstance(getattr(statement, "value", None), ast.Constant)]
    inside = text.splitlines()[body[0].lineno - 1 : found[0].end_lineno]
    return len([line for line in inside if line.strip()])
