"""Evaluation of a Function in arrays that are kept, without a copy or an allocation."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from gdalembert.spatial.arrays import Array


class Evaluation:
    """A Function whose inputs are read from arrays, and whose outputs are written to others, at each call.

    Attributes:
        arguments, results: C-contiguous arrays of as many numbers as the inputs and outputs have nonzeros, in their
            order: by columns.
        evaluate: evaluates; RuntimeError where the Function raises one.
        failed: whether the last evaluation did, in the words of CasADi: 0 if it did not.
    """

    def __init__(self, function: ca.Function, arguments: Sequence[Array], results: Sequence[Array]) -> None:
        self.arguments, self.results = arguments, results
        buffer, self.evaluate = function.buffer()
        self.failed = buffer.ret
        for setter, arrays in ((buffer.set_arg, arguments), (buffer.set_res, results)):
            for i, array in enumerate(arrays):
                setter(i, memoryview(array))  # type: ignore[arg-type, call-arg]  # CasADi has no types
