"""The scripts in ``examples``: each has a test of what it shows."""

from __future__ import annotations

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.scripts import EXAMPLES

pytestmark = pytest.mark.extras


def test_every_example_has_a_test() -> None:
    """Those of Pinocchio's clients are in ``tests/clients``."""
    tests = {path.stem for room in ("examples", "clients") for path in (ROOT / "tests" / room).glob("test_*.py")}
    assert {f"test_{path.stem}" for path in EXAMPLES} <= tests
