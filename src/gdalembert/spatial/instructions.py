"""The one walk over a graph's instructions: everything that knows how CasADi stores an SX Function.

An SX Function is a list of instructions on a work vector. Each instruction takes values from places of the vector, or
an entry of an input, or a constant, and puts its result into a place, or into an entry of an output. Entries of sparse
inputs and outputs are numbered among those that are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import casadi as ca

Value = TypeVar("Value")

_MULTIPLICATIONS = {ca.OP_MUL, ca.OP_SQ, ca.OP_TWICE, ca.OP_DIV, ca.OP_INV}
_ADDITIONS = {ca.OP_ADD, ca.OP_SUB}


def evaluate(
    graph: ca.Function,
    inputs: Sequence[Sequence[Value]],
    constant: Callable[[float], Value],
    operation: Callable[..., Value],
) -> list[list[Value]]:
    """Evaluate an SX Function in any algebra: of formulas, of text, of numbered values.

    Args:
        graph: the SX Function.
        inputs: all entries of each input, column by column; those that the graph does not store are not looked at.
        constant: makes a value of a number.
        operation: ``operation(op, *operands)`` carries out ``ca.OP_…`` on one value or on two.

    Returns:
        All entries of each output, column by column; what the graph does not store is ``constant(0.0)``.
    """
    stored = [graph.sparsity_in(i).find() for i in range(graph.n_in())]
    places = [graph.sparsity_out(i).find() for i in range(graph.n_out())]
    outputs = [[constant(0.0)] * graph.numel_out(i) for i in range(graph.n_out())]
    work: dict[int, Value] = {}
    for k, op in enumerate(operations(graph)):
        operands, results = graph.instruction_input(k), graph.instruction_output(k)
        if op == ca.OP_OUTPUT:
            outputs[results[0]][places[results[0]][results[1]]] = work[operands[0]]
        elif op == ca.OP_INPUT:
            work[results[0]] = inputs[operands[0]][stored[operands[0]][operands[1]]]
        elif op == ca.OP_CONST:
            work[results[0]] = constant(graph.instruction_constant(k))
        else:
            work[results[0]] = operation(op, *(work[place] for place in operands))
    return outputs


def operations(graph: ca.Function) -> list[int]:
    """The operation (``ca.OP_…``) of each instruction."""
    return [graph.instruction_id(k) for k in range(graph.n_instructions())]


def operation_name(op: int) -> str:
    """CasADi's name of an operation, as ``"OP_ATAN2"``."""
    return next((name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == op), f"operation {op}")


def count(graph: ca.Function) -> dict[str, int]:
    """The cost of an SX Function: ``instructions``, and how many of them are ``multiplications`` and ``additions``."""
    found = operations(graph)
    return {
        "instructions": len(found),
        "multiplications": sum(op in _MULTIPLICATIONS for op in found),
        "additions": sum(op in _ADDITIONS for op in found),
    }
