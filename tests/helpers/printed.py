"""What a script prints, beside numbers that were recorded."""

from __future__ import annotations

import re

NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"


def last_digit(number: str) -> float:
    """One unit of the last digit of a number as it is written, 0.01 of ``1.23`` and 10 of ``1.23e3``."""
    mantissa, _, exponent = number.replace(",", "").partition("e")
    return float(10 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def assert_printed(text: str, *lines: str) -> None:
    """Each line is in the text, with a number where it has one in braces: to 1.5 units of the last digit in braces.

    Solvers stop at 1e-6 to 1e-8 and processors round differently, so that a digit that is printed last may differ by
    one; digits of which fewer are recorded are not compared. ``{}`` is any number. All space counts alike.
    """
    said = " ".join(text.split())
    for line in lines:
        parts = re.split(r"\{(.*?)\}", " ".join(line.split()))
        pattern = "".join(f"({NUMBER})" if k % 2 else re.escape(part) for k, part in enumerate(parts))
        printed = re.findall(f"(?={pattern}).", said)
        printed = [row if isinstance(row, tuple) else (row,) for row in printed]
        assert any(all(map(_is, row, parts[1::2])) for row in printed), f"{line!r}: {printed or 'it is not'} in\n{text}"


def _is(printed: str, recorded: str) -> bool:
    if not recorded:
        return True
    off = abs(float(printed.replace(",", "")) - float(recorded.replace(",", "")))
    return off <= 1.5 * last_digit(recorded)
