"""The scripts in ``examples``: each has a test of what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.scripts import EXAMPLES

pytestmark = pytest.mark.extras


def test_every_example_has_a_test() -> None:
    tests = {path.stem for path in (Path(__file__).parent).glob("test_*.py")}
    assert {f"test_{path.stem}" for path in EXAMPLES} <= tests
