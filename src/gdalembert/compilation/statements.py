"""C code as statements, in parts.

Long graphs are cut into parts, each a C function, since the time of a compiler grows faster than the length of a
function. A value that a later part needs is kept in an array, whose places are used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca

LENGTH = 1000
"""Number of statements of a part."""
ARITHMETIC = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
}
"""Operations that C has for numbers and for vectors of them."""


@dataclass
class Statement:
    """C code that computes ``values`` from the ``operands`` among the values of other statements."""

    code: str
    values: Sequence[str]
    operands: Sequence[str]
    stores: list[str] = field(default_factory=list)


def places_of(statements: Sequence[Statement], number: dict[str, int], length: int) -> dict[str, int]:
    """The place in ``shared`` of each value that a later part needs."""
    last = {name: k // length for k, statement in enumerate(statements) for name in statement.operands}
    places: dict[str, int] = {}
    free_after: list[int] = []  # the last part that needs what is in a place
    for name, k in number.items():
        part = k // length
        if last.get(name, part) > part:
            place = next((i for i, until in enumerate(free_after) if until < part), len(free_after))
            free_after[place : place + 1] = [last[name]]
            places[name] = place
    return places


def body_of(part: Sequence[Statement], places: Mapping[str, int], kind: str) -> Iterator[str]:
    """Lines of C of a part; ``kind``: the type of values."""
    known: set[str] = set()
    for statement in part:
        for name in statement.operands:
            if name not in known:
                known.add(name)
                yield f"  const {kind} {name} = shared[{places[name]}];"
        known.update(statement.values)
        if statement.code:
            yield f"  {statement.code}"
        yield from (f"  shared[{places[name]}] = {name};" for name in statement.values if name in places)
        yield from (f"  {store}" for store in statement.stores)
