"""The pages of docs/api: docstrings as they are typed, tables of what is on a page, links to other packages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy.typing as npt
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import stringify_annotation

_PINOCCHIO = "https://gepettoweb.laas.fr/doc/stack-of-tasks/pinocchio/master/doxygen-html"
_STRUCTS = ("Model", "Data", "SE3", "Inertia", "Frame")
_CLASSES = ("Motion", "Force")
_DIRECTIVE = re.compile(r"^\.\. auto(module|class|function|exception):: (\S+)\n((?: {3}:.*\n)*)", re.MULTILINE)
_WRITTEN = {
    re.escape(stringify_annotation(npt.ArrayLike, "smart")): "~numpy.typing.ArrayLike",
    r"(ndarray)\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[[^\]]*\]\]": r"\1",
    r"TypeAliasForwardRef\('([\w.]+)'\)": r"~\1",
    r"pinocchio\.pinocchio_pywrap_default\.": "pinocchio.",
    r"<factory>": "...",
    r"<class '(?:\w+\.)*(\w+)'>": r"\1",
}
"""Patterns of signatures as they come, and how a reader knows it: NumPy's names of unions, public modules, classes."""
_FEW = 3
"""A class with as many members, or a page with as many entries, needs no table of them."""


def address(name: str) -> str | None:
    """Where the documentation of a class of Pinocchio, CasADi or NumPy is; None if it is none of these."""
    package, _, own = name.partition(".")
    own = own.rpartition(".")[2]
    if package == "casadi":
        return f"https://web.casadi.org/python-api/#casadi.casadi.{own}"
    if package == "numpy":
        page = "typing.html#numpy.typing.ArrayLike" if own == "ArrayLike" else f"generated/{name}.html"
        return f"https://numpy.org/doc/stable/reference/{page}"
    if package == "pinocchio":
        kind = "struct" if own in _STRUCTS else "class" if own in _CLASSES else ""
        return f"{_PINOCCHIO}/{kind}pinocchio_1_1{own}Tpl.html" if kind else f"{_PINOCCHIO}/namespacepinocchio.html"
    return None


def link_elsewhere(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element
) -> nodes.Element | None:
    """The type of an argument leads to the package that it comes from."""
    found = address(node.get("reftarget", "")) if node.get("refdomain") == "py" else None
    return None if found is None else nodes.reference("", "", shown, internal=False, refuri=found)


def with_summary(app: Sphinx, docname: str, source: list[str]) -> None:
    """A table of the entries of a page before the first of them."""
    if not docname.startswith("docs/api/"):
        return
    entries = {name: x for match in _DIRECTIVE.finditer(source[0]) for name, x in _entries(*match.groups())}
    if len(entries) > _FEW:
        first = source[0].index("```{eval-rst}")
        table = "\n".join(["```{eval-rst}", *_table(entries), "```", "", ""])
        source[0] = source[0][:first] + table + source[0][first:]


def _entries(kind: str, name: str, options: str) -> Iterator[tuple[str, Any]]:
    """What a directive documents, by name."""
    if kind != "module":
        home, _, own = name.rpartition(".")
        yield name, getattr(import_module(home), own)
    elif ":members:" in options:
        module = import_module(name)
        here = [each for each, x in vars(module).items() if getattr(x, "__module__", "") == name and each[0] != "_"]
        excluded = "".join(re.findall(r":exclude-members: (.*)", options)).split(", ")
        for each in getattr(module, "__all__", here):
            x = getattr(module, each)
            if each not in excluded and (inspect.isclass(x) or inspect.isroutine(x)):
                yield f"{name}.{each}", x


def members_of_class(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A table of the methods and properties of a class after its text."""
    asked = options.get("members")
    if what in ("class", "exception") and asked:
        members = {
            f"{name}.{each}": x
            for each, x in _members(obj, inherited=bool(options.get("inherited-members")))
            if not isinstance(asked, list) or each in asked
        }
        lines += ["", *_table(members)] if len(members) > _FEW else []


def _members(cls: type, *, inherited: bool) -> Iterator[tuple[str, Any]]:
    """Public methods and properties with a docstring, in the order of the source."""
    classes = cls.__mro__[:-1] if inherited else (cls,)
    for name in dict.fromkeys(name for each in classes for name in vars(each) if not name.startswith("_")):
        x = inspect.getattr_static(cls, name)
        if inspect.isroutine(x) or isinstance(x, property | cached_property | classmethod | staticmethod):
            yield name, x


def _table(entries: dict[str, Any]) -> list[str]:
    """A row for each entry: a link to it, and its first sentence."""
    lines = [".. list-table::", "   :class: summary", "   :widths: auto", ""]
    for name, x in entries.items():
        text = " ".join((inspect.getdoc(x) or "").partition("\n\n")[0].split())
        sentence = re.split(r"\. (?=[A-Z`])", text)[0].rstrip(".:")
        lines += [f"   * - :py:obj:`{name.rpartition('.')[2]} <{name}>`", f"     - {without_markup(sentence)}"]
    return [*lines, ""]


def as_written(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """A signature as one would write it."""
    texts = [arguments, returned]
    for pattern, written in _WRITTEN.items():
        texts = [text and re.sub(pattern, written, text) for text in texts]
    return texts[0], texts[1]


def as_typed(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings hold equations: indented lines between paragraphs stay as they are typed, | and (q) are no markup."""
    typed: list[str] = []
    before = ""
    equation = False
    for line in lines:
        if line and not line.startswith(" "):
            equation = False
        elif line and not typed[-1] and before and not before.startswith((" ", ".. ", ":", "* ")):
            equation = True
            typed += [] if before.endswith("::") else ["::", ""]
        typed.append(line if equation else without_markup(line))
        before = line or before
    lines[:] = typed


def as_text(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """The first line of a property says what it is; behind a comment napoleon does not take it for a type."""
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def without_markup(line: str) -> str:
    """The line with | and a leading (q) escaped, but for what is typed as code."""
    parts = re.sub(r"^(\s*)\((\w)\) ", r"\1\\(\2) ", line).split("``")
    return "``".join(part if k % 2 else part.replace("|", "\\|") for k, part in enumerate(parts))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", with_summary)
    app.connect("missing-reference", link_elsewhere)
    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-process-docstring", as_text, priority=100)
    app.connect("autodoc-process-docstring", as_typed, priority=900)
    app.connect("autodoc-process-docstring", members_of_class, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
