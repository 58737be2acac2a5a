"""What generated C of a step tells its callers: the head of the file, its header, and an example of a call."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gdalembert.spatial.source_text import c_comment, compile_lines

_WIDTH = 116
_OUTCOME = (
    "Of the last step: its size relative to the plan; what the interior point left of its gap, and of violations",
    "(0 to 1).",
)


_CODE = {"double": (11_700, 10.5), "float": (11_200, 9.2)}
"""Of a type of numbers: bytes of code of the engine, and of an operation of Functions, on a Cortex-M7 by gcc 12.2."""
_SPREAD = 0.15
"""By how much this estimate may be wrong: at most 10 % with nine problems, of 138 to 3,799 operations. On processors
with larger registers it was a third wrong, and so it is with vectors."""


class ExportedArray(NamedTuple):
    """An array that callers read or write.

    Attributes:
        name: in C, without that of the step. ``meaning``: what it is, with units and the order of its entries.
        is_written: whether a caller may write it.
    """

    name: str
    meaning: str
    is_written: bool = True


@dataclass(frozen=True)
class Described:
    """A generated step, as its callers see it.

    Attributes:
        name: of its function. ``exported``: its arrays by key, and their ``shapes``. ``real``: the type of numbers.
        about, remarks: what it is, and what its sets or rows are.
        most: the largest shift. ``unmet``: the part of violations that may be left. ``width``: numbers of a vector.
        near: how near to contacts and loops a start should be; "" if there are none.
        variables, constants: static data [bytes]. ``operations``: of all its Functions, at one instant.
    """

    name: str
    exported: Mapping[str, ExportedArray]
    shapes: Mapping[str, tuple[int, ...]]
    real: str
    about: str
    remarks: str
    most: int
    unmet: float
    width: int
    near: str
    variables: int
    constants: int
    operations: int

    @property
    def code(self) -> int:
        """About how many bytes of code it has on a Cortex-M7, without vectors."""
        engine, of_operation = _CODE[self.real]
        return int(round(engine + of_operation * self.operations, -2))

    def declaration(self, key: str) -> str:
        """The declaration of an array."""
        kind = "int32_t" if key == "set" else self.real
        return f"{kind} {self.name}_{self.exported[key].name}{''.join(f'[{n}]' for n in self.shapes[key])}"


def head(code: Described) -> list[str]:
    """The comment at the head of a file."""
    name, single = code.name, code.real == "float"
    vectors = "C99 without extensions"
    if code.width > 1:
        vectors = f"C99 with vectors of {code.width} numbers, as gcc and clang have them"
    lines = [
        f"{code.about}: {vectors}, in {'single' if single else 'double'} precision, without a library.",
        f"{name}.h says what its caller writes and reads.",
        "",
        "Compile (and link with -lm):",
        *compile_lines(f"{name}.c", single=single),
        "",
        f"With -D{name.upper()}_EXAMPLE it has a main that calls it ten times and prints; see the end of this file.",
        "",
        f"Static data: {code.variables:,} bytes of variables and {code.constants:,} of constants, and at most 2,000 of",
        f"pointers. No memory is allocated. All Functions of an instant have {code.operations:,} operations.",
        *([f"Code for the Cortex-M7 by gcc 12: about {code.code:,} bytes, within {_SPREAD:.0%}."] * (code.width == 1)),
        f"Compilers differ: 'size {name}.o' prints code and constants, -fstack-usage writes the stack.",
    ]
    return c_comment(lines)


def header(code: Described) -> str:
    """The header."""
    name, guard = code.name, f"{code.name.upper()}_H"
    about = [f"{code.about}.", "", *_calls(code), *(["", *code.remarks.splitlines()] if code.remarks else [])]
    parts = [f"#ifndef {guard}", f"#define {guard}", *c_comment(about), "", "#include <stdint.h>", ""]
    parts += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for key, array in code.exported.items():
        meaning = f"{'Written by the caller' if array.is_written else 'Read by the caller'}: {array.meaning}"
        parts += c_comment(textwrap.wrap(meaning, _WIDTH, break_long_words=False))
        parts += [f"extern {code.declaration(key)};", ""]
    parts += c_comment(_OUTCOME)
    parts += [f"extern {code.real} {name}_{key};" for key in ("step", "gap", "infeasibility")]
    parts += ["", f"int {name}(int shift);", "", "#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(parts)


def _calls(code: Described) -> list[str]:
    """What the function does, and what it returns."""
    refused = [f"  -1    if shift is not from 0 to {code.most}; then nothing is done"]
    if "set" in code.exported:
        refused.append("  -2    if the schedule names no problem, or another in its last entry; then nothing is done")
    far = [f"  3     if the step is taken, from a start farther than {code.near}"] if code.near else []
    return [
        f"int {code.name}(int shift) cuts off the first intervals of the plan and takes one step. It returns",
        "",
        "  0     if the step is taken",
        "  1, 2  if the last plan, shifted, stands for it: the step is not finite, or is out of all proportion",
        *far,
        f"  4     if the step is taken, but more than {code.unmet:.0%} of the violations are left",
        *refused,
        "",
        "It is no function for several threads at once: a program has one such controller.",
    ]


def example(code: Described) -> str:
    """A main that calls the step as a controller does, of a robot that moves as planned."""
    name, state, (rows, inputs) = code.name, code.shapes["x_0"][0], code.shapes["u"]
    moves = int(code.most > 0)
    schedule = ""
    if "set" in code.exported:
        schedule = f"""
    for (int i = 0; k > 0 && i < {rows - 1}; ++i) {name}_set[i] = {name}_set[i + 1];"""
    shift = "k > 0" if moves else "0"
    return f"""
#ifdef {name.upper()}_EXAMPLE
#include <stdio.h>

int main(void) {{
  for (int k = 0; k < 10; ++k) {{ /* at each tick of the controller's clock */
    for (int i = 0; i < {state}; ++i) {name}_x_0[i] = {name}_x[{shift}][i]; /* as sensors measure it */{schedule}
    int outcome = {name}({shift});
    (void) printf("%d", outcome);
    for (int i = 0; i < {inputs}; ++i) (void) printf(" %.17g", (double) {name}_u[0][i]); /* which go to the motors */
    (void) printf("\\n");
  }}
  return 0;
}}
#endif
"""
