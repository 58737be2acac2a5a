"""Symbols inside of what consists of dataclasses, tuples and mappings, as trees and force elements do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import casadi as ca

from gdalembert.spatial.algebra import Matrix, entries

T = TypeVar("T")


def mapped(x: T, kind: type, change: Callable[[Any], Any]) -> T:
    """A copy in which every object of a kind is changed; what has none of them is not copied."""
    value: Any = x
    if isinstance(value, kind):
        value = change(value)
    elif isinstance(value, tuple):
        new = tuple(mapped(each, kind, change) for each in value)
        value = value if all(a is b for a, b in zip(new, value, strict=True)) else new
    elif isinstance(value, Mapping):
        by_name = {name: mapped(each, kind, change) for name, each in value.items()}
        value = value if all(by_name[name] is value[name] for name in value) else by_name
    elif is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        other = {name: mapped(each, kind, change) for name, each in own.items()}
        changed = {name: each for name, each in other.items() if each is not own[name]}
        value = replace(value, **changed) if changed else value
    result: T = value
    return result


def substituted(x: T, symbols: ca.SX, values: Matrix) -> T:
    """A copy with values, numbers (DM) or expressions (SX), for the symbols; what becomes a number is an array then."""
    return mapped(x, ca.SX, lambda expression: entries(ca.substitute(expression, symbols, ca.SX(values))))
