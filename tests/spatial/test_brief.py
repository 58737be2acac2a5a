"""What objects print at the end of a line or cell: at most 300 characters, whatever they hold."""

import dataclasses
import html
import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.spatial.brief import (
    LONGEST,
    Brief,
    aligned,
    as_json,
    brief,
    first_named,
    first_of,
    html_report,
    html_table,
)
from tests.helpers.paths import ROOT

SHORT = ("float", "int", "bool", "str", "float | None")


def public_dataclasses() -> dict[str, type]:
    """Dataclasses that the pages of the API show, by a name or with their module."""
    pages = " ".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    shown = set(re.findall(r":: gdalembert\.([\w.]+)", pages))
    found = {}
    for module in pkgutil.walk_packages(gd.__path__, "gdalembert."):
        if module.name.endswith("__main__") or ".plotting" in module.name or ".viewer" in module.name:
            continue
        loaded = importlib.import_module(module.name)
        names = getattr(loaded, "__all__", vars(loaded))
        for name, x in ((name, getattr(loaded, name)) for name in names):
            path = f"{module.name}.{name}".removeprefix("gdalembert.")
            if inspect.isclass(x) and dataclasses.is_dataclass(x) and x.__module__.startswith("gdalembert"):
                of_package = path.rpartition(".")[0] in shown and not name.startswith("_")
                if of_package or path in shown or hasattr(gd, name):
                    found[name] = x
    return found


def test_every_public_dataclass_is_brief() -> None:
    """Or has a ``repr`` of its own, or holds nothing but numbers and words."""
    found = public_dataclasses()
    assert {"Solution", "Guess", "AcadosExpressions", "Bounds", "Tree", "Beam", "Friction"} <= found.keys()
    walls = {
        name
        for name, x in found.items()
        if hasattr(vars(x).get("__repr__"), "__wrapped__")  # written by dataclass
        and any(field.type not in SHORT for field in dataclasses.fields(x) if field.repr)
    }
    assert not walls


@dataclass(frozen=True, eq=False)
class Everything(Brief):
    few: Any
    many: Any
    expression: Any
    text: str
    entries: Any
    function: Any
    number: float
    _hidden: int = 1


def test_parts_are_shown_by_their_kind() -> None:
    x, f = ca.SX.sym("x", 3), ca.Function("f", [], [])
    found = Everything([1, 2], np.ones((3, 4)), x, "w" * 100, {k: k for k in range(9)}, f, 1 / 3)
    assert repr(found) == (
        "Everything(few=[1, 2], many=<3 × 4>, expression=<SX 3 × 1>, text='" + 58 * "w" + "…', entries=<9 entries>, "
        "function=<Function f>, number=0.333333)"
    )
    assert repr(Everything(np.array([0.5, 2]), *[found] * 6)) == (
        "Everything(few=[0.5, 2], many=Everything(…), expression=Everything(…), text=Everything(…), "
        "entries=Everything(…), function=Everything(…), number=Everything(…))"
    )
    assert len(repr(Everything(*["w" * 80] * 7))) <= LONGEST
    assert len(brief(found, {f"part{k}": 0.1 for k in range(100)})) <= LONGEST


def test_what_users_get_prints_briefly() -> None:
    model = gd.load_urdf("panda7")
    dyn, plain = gd.NewtonEuler(model, parameters={"inertia": True}), gd.NewtonEuler(model)
    home = np.array([0.0, -0.6, 0.0, -2.0, 0.0, 1.5, 0.0])
    beam = gd.Beam.round(0.3, 0.01, density=2700.0, youngs_modulus=70e9, shear_modulus=26e9)
    many = [gd.Contact(f"link{k}", "3D", np.zeros(3)) for k in range(1, 8)]
    problems = [gd.ocp.Problem(plain, 1.0, 4) for _ in range(4)]
    for x in (
        dyn.tree,
        *dyn.tree.joints[:2],
        dyn.tree.frames[3],
        dyn.parameters,
        dyn,
        gd.Kinematics(model),
        dyn.base_parameters,
        gd.ocp.Bounds.of(dyn, model),
        gd.ocp.rest_to_rest(plain, home, home + 0.1, 1.0),
        gd.ocp.acados_expressions(plain),
        problems[0],
        gd.ocp.Phases(problems),
        beam,
        gd.FlexibleLink(beam),
        gd.CosseratRod(beam),
        many[0],
        first_of([each.name for each in many * 9]),
        gd.ConstrainedDynamics(plain, many[-1:]),
        *gd.NewtonEuler.sources,
        dyn.external_wrenches,
    ):
        assert len(repr(x)) <= LONGEST, type(x)
        assert "\n" not in repr(x)


@pytest.mark.parametrize("kind", [gd.cpin.SE3, gd.cpin.Motion, gd.cpin.Inertia, gd.cpin.Symmetric3])
def test_spatial_objects_of_long_expressions_are_brief(kind: Any) -> None:
    """Of short ones the expressions are shown, and by print of long ones, too."""
    x, numbers = ca.SX.sym("x", 36), kind.Random()
    long = ca.sin(x) ** 2 + ca.cos(ca.sqrt(x[::-1]) * x) * ca.exp(x) - ca.tan(x) * ca.atan2(x, x[::-1])
    symbols = kind(*(ca.reshape(long[: part.numel()], part.shape) for part in numbers.parts))
    assert repr(symbols).startswith(f"{kind.__name__}(")
    assert "<SX 3 × " in repr(symbols)
    assert len(repr(symbols)) <= LONGEST < len(str(symbols))
    assert repr(numbers) == str(numbers)
    assert repr(gd.cpin.Frame("tip", 2, gd.cpin.SE3(ca.diag(x[:3]), long[:3]), gd.cpin.BODY)) == (
        "Frame(name='tip', parentJoint=2, placement=<SE3>)"
    )


def test_reports_print_as_tables_in_notebooks() -> None:
    model = gd.load_urdf("two_link_arm")
    report = gd.validate(gd.NewtonEuler(model), against=model, samples=2)
    assert re.fullmatch(r"Report\('two_link_arm', 'newton_euler', ok: (\d+) of \1 checks on 2 states\)", repr(report))
    page = report._repr_html_()
    assert page.count("<tr>") == len(report.checks) + 1
    assert '<td style="text-align:left">mass_matrix</td>' in page.replace("'", '"')
    wrong = gd.validate(lambda q, v, a: 2 * np.ones(2), against=model, samples=2)
    assert "FAILED" in repr(wrong)
    assert all(f"<li>{html.escape(text)}</li>" in wrong._repr_html_() for text in wrong.diagnosis)


@pytest.mark.parametrize("text", ["a < b\nx & y"])
def test_html_is_escaped(text: str) -> None:
    page = html_report(text, details="<i>")
    assert page == (
        "<p><b>a &lt; b</b></p><pre>x &amp; y</pre><details><summary>details</summary><pre>&lt;i&gt;</pre></details>"
    )
    assert "<i>" not in html_table("<i>", ["<i>"], [["<i>"]], ["<i>"])


def test_columns_of_a_table_are_aligned() -> None:
    rows = [("joint", "error", "at"), ("q1", "1e-3", ""), ("longer", "2", "q")]
    assert aligned(rows) == ["  joint   error  at", "  q1       1e-3", "  longer      2   q"]
    assert aligned(rows, left=(1, 2), indent="") == [" joint  error  at", "    q1  1e-3", "longer  2      q"]


def test_first_names_are_quoted() -> None:
    assert first_named(["a", "b"], most=2) == "'a', 'b'"
    assert first_named(["a", "b", "c"], 2) == "'a', 'b', …"


def test_objects_become_json() -> None:
    @dataclass
    class Point:
        x: np.ndarray
        by_name: dict[str, Any]
        _hidden: int = 0

    point = Point(np.array([[1.0, np.nan]]), {"a": (np.float64(np.inf), 2), "b": [True, None, -np.inf]})
    assert as_json(point) == {"x": [[1.0, "nan"]], "by_name": {"a": ["inf", 2], "b": [True, None, "-inf"]}}
