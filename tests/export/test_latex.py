"""Exported LaTeX, read back, is the closed form; what is printed fits the page."""

from __future__ import annotations

import itertools
import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.export import derive, write
from gdalembert.export.latex import Printer, broken, width
from tests.helpers.exports import PRINTED, QUICKLY_PRINTED
from tests.helpers.sets import quick


def alignments(text: str) -> list[list[str]]:
    """The lines of each align environment."""
    blocks = re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, flags=re.DOTALL)
    return [block.split(" \\\\\n") for block in blocks]


def read_back(latex: str) -> sympy.Expr:
    """The expression that is printed, upright letters as ``c_23up``."""
    text = re.sub(r"\\mathrm\{(\w\w+)\}", r"\1", latex)
    text = re.sub(r"\\(\w+)_\{(\d+)\}", r"\1_\2", text)
    text = re.sub(r"\\mathrm\{([cs])\}_\{([^}]*)\}", lambda m: f" {m[1]}_{m[2].replace(',', '_')}up ", text)
    text = re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r" (\1/\2) ", text)
    text = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1 ", text)
    text = re.sub(r"(\\?\w+)_\{([^}]*)\}", lambda m: f" {m[1].lstrip(chr(92))}_{m[2].replace(',', '_')} ", text)
    text = re.sub(r"\\(sin|cos)(?:\^\{(\d+)\})? (\w+|\s\w+\s)", r" \1power(\3, \2) ", text)
    text = re.sub(r"\\(sin|cos)(?:\^\{(\d+)\})? \(([^()]*)\)", r" \1power(\3, \2) ", text)
    text = re.sub(r"\^\{(\d+)\}", r"**\1 ", text)
    tokens = re.findall(r"\w+power\(|[\d.]+(?:e-?\d+)?|\w+|\*\*|[-+*/(),]", text)
    product = ""
    for before, token in zip(["+", *tokens], tokens, strict=False):
        ends = re.fullmatch(r"[\w.]+(e-?\d+)?|\)", before) is not None
        starts = re.fullmatch(r"\w+power\(|[\w.]+(e-?\d+)?|\(", token) is not None
        product += ("*" if ends and starts else "") + token
    names = {x: gs.symbol(x) for x in re.findall(r"[A-Za-z]\w*", product) if not x.endswith("power")}
    powers = {
        "sinpower": lambda x, n=1: sympy.sin(x) ** n,
        "cospower": lambda x, n=1: sympy.cos(x) ** n,
    }
    exact = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.])", r"Rational('\1')", product.replace(", )", ")"))
    return eval(exact, {"Rational": sympy.Rational, **powers, **names})


def printed_entries(text: str) -> dict[str, sympy.Expr]:
    """Each entry by its left side, shorthand written out by what the document says that it is."""
    found = {}
    for block in alignments(text):
        joined = re.sub(r" *\n?&\\q?quad ", " ", "\n".join(block)).split("\n")
        found |= dict(line.split(" &= ") for line in joined)
    section = re.search(r"Abbreviations\}\n\n(.*)\.\n", text)
    pairs = [x.split(" = ") for x in re.findall(r"\$([^$]*)\$", section[1])] if section else []
    meanings = {read_back(short): read_back(meaning) for short, meaning in pairs}
    return {name: read_back(right).xreplace(meanings) for name, right in found.items()}


@pytest.mark.parametrize(
    ("robot", "formulation"),
    quick([(r, f) for r, f, symbolic in PRINTED if symbolic], *(x[:2] for x in QUICKLY_PRINTED)),
)
def test_latex_is_the_graph(robot: str, formulation: str) -> None:
    """Read back entry by entry; what is not printed is zero, or below the diagonal of a symmetric matrix."""
    cls = gd.formulations()[formulation]
    (text,) = derive(robot, "latex", formulation=formulation, terms=["terms", "coriolis_matrix"]).values()
    printed = printed_entries(text)
    expected = gs.closed_forms(robot, cls) | gs.closed_forms(robot, cls, of="coriolis_matrix")
    seen = set()
    for name, matrix in expected.items():
        letter, _, rest = name.partition("_")
        symmetric = matrix.shape[0] == matrix.shape[1] > 1 and (matrix == matrix.T).all()
        for (i, j), entry in np.ndenumerate(matrix):
            index = f"{i + 1}" if matrix.shape[1] == 1 else f"{i + 1}{j + 1}"
            left = (
                f"{letter}^{{\\mathrm{{{rest}}}}}_{{{index}}}"
                if rest and letter != "h"
                else f"{letter}_{{{rest}{index}}}"
            )
            if not entry or (symmetric and j < i):
                assert left not in printed
            else:
                assert gs.TrigonometricPolynomial.of(printed[left]) == entry, left
                seen.add(left)
    assert seen == set(printed)


def test_latex_with_numbers_is_the_graph_to_six_digits() -> None:
    """Of each coefficient; the entries are sums of a few of them."""
    (text,) = derive("puma560_3", "latex", formulation="generalized_dalembert", symbolic=False).values()
    assert "Numbers are rounded to six significant digits." in text
    q, v = np.random.default_rng(6).normal(size=(2, 3))
    numbers = {gs.symbol(f"{x}_{k + 1}"): y[k] for x, y in (("q", q), ("v", v)) for k in range(3)}
    expected = gd.GeneralizedDAlembert(gd.load_urdf("puma560_3")).terms(q=q, v=v)
    for left, entry in printed_entries(text).items():
        letter, above, index = re.fullmatch(r"(\w)(?:\^\{\\mathrm\{(\w+)\}\})?_\{(\d+)\}", left).groups()
        matrix = expected[f"{letter}_{above}" if above else letter].full()
        value = matrix[tuple(int(x) - 1 for x in index) if len(index) == 2 else (int(index) - 1, 0)]
        assert float(entry.subs(numbers)) == pytest.approx(value, abs=1e-5)


@cache
def document_of(robot: str, formulation: str, symbolic: bool) -> dict[str, str]:
    """The document, which two tests look at."""
    return dict(derive(robot, "latex", formulation=formulation, symbolic=symbolic, terms=["terms", "nle"]))


@pytest.mark.extras
@pytest.mark.parametrize(("robot", "formulation", "symbolic"), PRINTED)
def test_latex_fits_the_page(robot: str, formulation: str, symbolic: bool) -> None:
    """As matplotlib sets it, in Computer Modern; the text of the page is 160 mm wide."""
    (text,) = document_of(robot, formulation, symbolic).values()
    import matplotlib as mpl
    from matplotlib.mathtext import MathTextParser

    page = 160 / 25.4 * 72.27
    parser = MathTextParser("path")

    def points(formula: str) -> float:
        return parser.parse(f"${formula}$", dpi=72, prop=mpl.font_manager.FontProperties(size=10)).width

    with mpl.rc_context({"mathtext.fontset": "cm"}):
        for block in alignments(text):
            sides = [line.split("&", 1) for line in block]
            assert max(points(x) for x, _ in sides if x) + max(points(x) for _, x in sides) < page
            assert all(points(x) < width(x) for _, x in sides if len(x) > 100)


@pytest.mark.system
def test_latex_compiles_and_fits_the_page(tmp_path: Path) -> None:
    documents = [
        *itertools.starmap(document_of, PRINTED),
        derive("puma560", "latex", terms=["G", "D_tra"]),
        derive("puma560", "latex", symbolic=False, terms=["G", "H_tra"]),
    ]
    for document in documents:
        (path,) = write(document, f"{tmp_path}/", force=True)
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, done.stdout
        assert "Overfull" not in done.stdout
        assert path.with_suffix(".pdf").stat().st_size > 10_000


def test_latex_says_zero_and_symmetric_once() -> None:
    (text,) = derive("cart_pendulum", "latex", formulation="lagrange_euler").values()
    assert text.startswith("\\documentclass")
    assert text.endswith("\\end{document}\n")
    assert "$c_{2x}$" not in text.split("Symbols")[0]
    assert "\\subsection*{$h_{2}$}\n\n$h_{2} = 0$.\n" in text
    assert "The matrix is symmetric." in text
    assert "D_{21}" not in text
    body = derive("cart_pendulum", "latex", formulation="lagrange_euler", body_only=True)["cart_pendulum.tex"]
    assert body.startswith("\\section*{cart\\_pendulum}")
    assert body.strip() in text


def test_latex_keeps_indices_above_nine_apart() -> None:
    rows = [gs.Row("P", mass="m", alpha=0) for _ in range(11)]
    robot = gs.from_denavit_hartenberg(rows, name="stack")
    (text,) = derive(robot, "latex", terms="D_tra").values()
    assert "D^{\\mathrm{tra}}_{1,11} &= m" in text
    (text,) = derive(robot, "latex", formulation="lagrange_euler", terms=["c", "h"]).values()
    assert "c_{11} &= g m" in text
    assert "$h_{11} = 0$." in text


def test_lines_are_broken_in_few_parentheses() -> None:
    a, b, c = (gs.symbol(name) for name in ("a_long", "b_long", "c_long"))
    pieces = Printer().pieces(a + b * (a + c + sympy.sin(2 * a)) - sympy.Rational(3, 7) * c**2)
    lines = broken(pieces, 120, 120)
    assert len(lines) > 1
    assert " ".join(x for x, _ in lines).replace("  ", " ") == "".join(x for x, _ in pieces)
    assert all(width(x) <= 120 or " + " not in x[2:] for x, _ in lines)
    assert broken(pieces, 1e9, 1e9) == [("".join(x for x, _ in pieces), 0)]
