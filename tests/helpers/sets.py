"""The sets of tests: quick by default, ``long`` and ``extras`` beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(values: Iterable[Any], *chosen: Any) -> list[Any]:
    """Values for ``parametrize`` of which all but the chosen ones are ``long``."""
    return [value if value in chosen else _marked(value, pytest.mark.long) for value in values]


def with_extras(values: Iterable[Any], *chosen: Any) -> list[Any]:
    """Values for ``parametrize`` of which all but the chosen ones need a package that the extra ``test`` has not."""
    return [value if value in chosen else _marked(value, pytest.mark.extras) for value in values]


def _marked(value: Any, mark: pytest.MarkDecorator) -> Any:
    if hasattr(value, "values") and hasattr(value, "marks"):
        return pytest.param(*value.values, marks=[*value.marks, mark], id=value.id)
    return pytest.param(*value, marks=mark) if isinstance(value, tuple) else pytest.param(value, marks=mark)
