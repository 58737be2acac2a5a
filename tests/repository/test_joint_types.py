"""No module outside model/joints tests for a joint type: the types answer for themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gdalembert.model.joints import JOINT_TYPES
from tests.helpers.paths import ROOT

PACKAGE = ROOT / "src" / "gdalembert"
JOINTS = PACKAGE / "model" / "joints"
OUTSIDE = [path for path in sorted(PACKAGE.rglob("*.py")) if JOINTS not in path.parents]

TYPES = {joint_type.__name__ for joint_type in JOINT_TYPES}
TESTS = {"isinstance", "issubclass", "type", "getattr", "hasattr"}
CONSTANTS = {"axis", "pitch", "radii"}


def type_tests(source: str) -> Iterator[str]:
    """Where a module names a joint type other than to make one, or asks for its class or whether it has an axis."""
    tree = ast.parse(source)
    imported = set(_imported(tree))
    made = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in made and _name(node) in imported:
            yield f"{node.lineno}: {ast.unparse(node)} is not called"
        if isinstance(node, ast.Call) and _name(node.func) in TESTS and _is_about_a_joint(node):
            yield f"{node.lineno}: {ast.unparse(node)}"


def _name(node: ast.AST) -> str:
    """``x`` and ``x.y``, and nothing for what is longer, which no import gives."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names of joint types, as ``Revolute`` or ``jt.Revolute``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gdalembert.model.joints"):
            yield from (alias.asname or alias.name for alias in node.names if alias.name in TYPES)
        elif isinstance(node, ast.ImportFrom) and node.module == "gdalembert.model":
            yield from (f"{a.asname or a.name}.{name}" for a in node.names if a.name == "joints" for name in TYPES)


def _is_about_a_joint(call: ast.Call) -> bool:
    first = ast.unparse(call.args[0])
    if len(call.args) > 1 and ast.unparse(call.args[1]).split(".")[-1] == "JointType":
        return True
    if ast.unparse(call.func) in ("getattr", "hasattr"):
        return isinstance(call.args[1], ast.Constant) and call.args[1].value in CONSTANTS
    return ast.unparse(call.func) == "type" and (first == "joint_type" or first.endswith(".type"))


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(Path(path).relative_to(PACKAGE)))
def test_nobody_tests_for_a_joint_type(path: Path) -> None:
    assert list(type_tests(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(joint.type, Revolute)",
        "isinstance(joint.type, Revolute | jt.Prismatic)",
        "TURNING = (Revolute,)",
        "joint.type.__class__ is jt.Spherical",
        "isinstance(joint.type, JointType)",
        "type(joint.type).__name__",
        "getattr(joint.type, 'axis', None)",
        "hasattr(joint_type, 'pitch')",
    ],
)
def test_a_type_test_is_found(line: str) -> None:
    head = "from gdalembert.model import joints as jt\nfrom gdalembert.model.joints import JointType, Revolute\n"
    assert list(type_tests(head + line))


def test_making_and_asking_a_joint_type_is_no_test() -> None:
    source = """
from gdalembert.model import joints as jt
from gdalembert.model.joints import JointType, Revolute
z: JointType = Revolute((0.0, 0.0, 1.0))
y = jt.Prismatic((0.0, 1.0, 0.0))
angle = joint.type.axis is not None and joint.type.is_revolute
kind = type(error).__name__
"""
    assert list(type_tests(source)) == []
