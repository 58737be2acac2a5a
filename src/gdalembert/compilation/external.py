"""Machine code in the place of a Function that CasADi's integrators and solvers call, with its derivatives."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import casadi as ca

from gdalembert.compilation.compiler import Use, find_compiler
from gdalembert.compilation.machine_code import load


def external(function: ca.Function, order: int, where: str) -> ca.Function:
    """The Function as machine code, from the cache or compiled now by ``-O1 -march=native``.

    Its derivatives have tens of thousands of instructions, for which compilers take long at higher levels.

    Args:
        function: of SX, without a state of its own; its derivatives are those of whole Jacobians.
        order: of derivatives: 1 for its Jacobian, 2 for its adjoint and the Jacobian of that, too.
        where: the caller, for messages.

    Raises:
        CompilationError: if there is no compiler, if it fails or takes more than ten minutes, or if the cache cannot be
            used.
    """
    tool = find_compiler(Use(where, "-O1", "drop compiled=True", "drop compiled=True, or take fewer or smaller parts"))
    by_jacobian = {"enable_forward": False}
    options: dict[str, Any] = by_jacobian | {"is_diff_in": function.is_diff_in(), "reverse_options": by_jacobian}
    determines = (function.serialize(), str(order), ca.CasadiMeta.version(), inspect.getsource(sys.modules[__name__]))

    def source() -> str:
        return _source(function, order)

    def opened(path: Path) -> ca.Function:
        return ca.external(function.name(), str(path), options)

    return load(tool, None, "\0".join(determines), source, opened)


def _source(function: ca.Function, order: int) -> str:
    """C code of a Function and its derivatives, by the names under which CasADi looks for them."""
    generator = ca.CodeGenerator("gdalembert")
    for each in (function, function.jacobian()):
        generator.add(each)
    if order > 1:
        adjoint = function.reverse(1)
        for each in (adjoint, adjoint.jacobian()):
            generator.add(each)
    return generator.dump()
