"""Short texts of objects at the end of a cell or line: at most 300 characters, arrays by their shapes; and HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import casadi as ca
import numpy as np

LONGEST = 300
"""Most characters of a ``repr``."""
_PART = 60
"""Most characters of one attribute in it."""
_LIST = 100
"""Most characters of a list of which there are too many."""
_FEW = 4
"""Most numbers of an array that are printed themselves."""


class Brief:
    """A class, a dataclass or not, whose ``repr`` names its attributes within 300 characters, computing none of them.

    Numbers of short arrays are printed, other arrays by their shapes, collections by their sizes.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__repr__" not in cls.__dict__:  # which dataclass would write otherwise
            setattr(cls, "__repr__", brief)  # noqa: B010  # mypy forbids to assign methods


def brief(x: object, parts_by_name: Mapping[str, Any] | None = None) -> str:
    """The text of the class and the attributes of an object, or other parts of it, as far as 300 characters go."""
    known = vars(x) if hasattr(x, "__dict__") else {}
    if parts_by_name is not None:
        shown = list(parts_by_name.items())
    elif is_dataclass(x):
        shown = [(field.name, known[field.name]) for field in fields(x) if field.repr and field.name in known]
    elif isinstance(x, tuple) and hasattr(x, "_fields"):
        shown = list(zip(x._fields, x, strict=True))
    else:
        shown = list(known.items())
    head, parts, left = type(x).__name__, list[str](), LONGEST - len(type(x).__name__) - 6
    for name, value in shown:
        if name.startswith("_"):
            continue
        part = f"{name}={_shown(value)}"
        if len(part) + 2 > left:
            parts.append("…")
            break
        parts.append(part)
        left -= len(part) + 2
    return f"{head}({', '.join(parts)})"


def first_of(parts: Sequence[str]) -> str:
    """Parts with commas between them, as many as are read with a glance, and the number of all where some are left."""
    text = ", ".join(parts)
    if len(text) <= 2 * _LIST:
        return text
    text = ""
    for part in parts:
        if len(text) + len(part) > _LIST:
            break
        text += f"{part}, "
    return f"{text}… {len(parts)} in all"


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,), indent: str = "  ") -> list[str]:
    """Lines of a table: the columns in ``left`` are flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    columns = [(width, "<" if k in left else ">") for k, width in enumerate(widths)]
    lines = ("  ".join(f"{x:{side}{w}}" for x, (w, side) in zip(row, columns, strict=True)) for row in rows)
    return [f"{indent}{line}".rstrip() for line in lines]


def first_named(names: Sequence[str], most: int, more: str = ", …") -> str:
    """The first names in quotation marks, and ``more`` where there are others."""
    return ", ".join(map(repr, names[:most])) + (more if len(names) > most else "")


def _shown(value: object) -> str:
    """The text of one attribute."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return repr(value if len(value) < _PART else f"{value[: _PART - 2]}…")
    if isinstance(value, np.ndarray | ca.DM | ca.SX | ca.MX):
        return _matrix(value)
    if isinstance(value, ca.Function):
        return f"<Function {value.name()}>"
    if isinstance(value, Brief):
        return f"{type(value).__name__}(…)"
    if isinstance(value, Mapping | Collection):
        text = repr(value) if len(value) <= _FEW else ""
        return text if text and len(text) <= _PART else f"<{len(value)} entries>"
    text = " ".join(repr(value).split())
    return text if len(text) <= _PART else f"<{type(value).__name__}>"


def _matrix(value: Any) -> str:
    """A short vector of numbers, or the shape of a matrix."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size <= _FEW and value.dtype.kind in "biuf":
        return f"[{', '.join(f'{x:.4g}' for x in value)}]"
    kind = "" if isinstance(value, np.ndarray | ca.DM) else f"{type(value).__name__} "
    return f"<{kind}{' × '.join(map(str, value.shape)) or 'number'}>"


def as_json(value: Any) -> Any:
    """A value as ``json.dumps`` takes it: objects by their public fields, NaN and infinity, which JSON lacks, as words.

    ``dataclasses.asdict`` keeps arrays, which JSON refuses, and takes in private fields, such as the robot of a fit.
    """
    if is_dataclass(value) and not isinstance(value, type):
        names = (entry.name for entry in fields(value) if not entry.name.startswith("_"))
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray | tuple | list):
        return [as_json(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, Mapping):
        return {name: as_json(item) for name, item in value.items()}
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(float(value))
    return value


def html_report(text: str, *, details: str = "") -> str:
    """A printed report as HTML: its first line as a heading, the rest as it is, and details that open on a click."""
    title, _, body = text.partition("\n")
    more = f"<details><summary>details</summary><pre>{html.escape(details)}</pre></details>" if details else ""
    return f"<p><b>{html.escape(title)}</b></p><pre>{html.escape(body)}</pre>{more}"


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """A title, a table, the first column to the left, and notes below it."""

    def row(cells: Sequence[str], tag: str) -> str:
        sides = ("left", *("right" for _ in cells[1:]))
        texts = (
            f'<{tag} style="text-align:{side}">{html.escape(x)}</{tag}>' for x, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(texts)}</tr>"

    below = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        f"<p><b>{html.escape(title)}</b></p><table><thead>{row(head, 'th')}</thead>"
        f"<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>" + (f"<ul>{below}</ul>" if below else "")
    )
