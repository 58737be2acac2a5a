"""Sections about the equations: what the URDF says, validation, base parameters, closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import sympy

from gdalembert.cli.options import several
from gdalembert.cli.report.page import PageSection, bullets, escape, folded, number, paragraph, table
from gdalembert.cli.report.subject import Subject
from gdalembert.cli.tables import robot_tables
from gdalembert.dynamics.dynamics import formulations
from gdalembert.dynamics.lagrange_euler import LagrangeEuler
from gdalembert.errors import UnsupportedError
from gdalembert.symbolic.closed_forms import closed_forms, readable
from gdalembert.symbolic.formula import TrigonometricPolynomial
from gdalembert.validation.report import Report
from gdalembert.validation.validate import validate

STATES = 200
_LARGE = 20
"""nv above which only Newton–Euler is validated: graphs of the others are large."""
_FORMS = 8
"""nv above which there are no closed forms."""
_SHORT = 14
"""Operations of a closed form that is shown."""
_FEW = 12
"""Entries of a mass matrix that are shown."""


def says(subject: Subject) -> PageSection:
    """Checks, joints, masses, limits, frames."""
    model, description = subject.model, subject.description
    inertias = [model.inertias[k] for k in range(1, model.njoints)]
    mass = sum(inertia.mass for inertia in inertias)
    data = model.createData()
    centre = pin.centerOfMass(model, data, subject.home)
    fixed = "its base floats" if subject.has_floating_base else "its base is fixed"
    at = ", ".join(f"{x:.4g}" for x in centre)
    joints = several(len(description["joints"]), "joint", "joints")
    body = paragraph(
        f"{joints}, nq = {description['nq']}, nv = {description['nv']}; {fixed}. It weighs {mass:.4g} kg; at the "
        f"configuration nearest to zero within its limits, its centre of mass is at ({at}) m."
    )
    body += "<h3>Checks</h3>"
    body += bullets(subject.remarks) if subject.remarks else paragraph("The checks of the URDF have no remark.")
    changes = description["cleaning"]["changes"]
    if changes:
        rounded = several(len(changes), "constant is", "constants are")
        largest = description["cleaning"]["change_in_tau"]
        effect = f"tau by at most {largest:.1e} (relative)" if largest else "nothing else"
        text = f"{rounded} cleaned of rounding noise, which changes {effect}."
        body += paragraph(text) + folded("what is cleaned", bullets(changes))
    for k, (title, head, rows, left) in enumerate(robot_tables(description)):  # inertias and frames are long
        shown = table(head, rows, left)
        body += folded(title, shown) if k % 2 else f"<h3>{escape(title[0].upper() + title[1:])}</h3>{shown}"
    body += paragraph(
        "A URDF has rigid links and a tree of joints. Flexible links (gd.FlexibleArm), contacts and closed loops "
        "(gd.ConstrainedDynamics) are added in Python.",
        "note",
    )
    code = f"import numpy as np\nimport pinocchio as pin\nimport gdalembert as gd\n\n{subject.line}"
    code += f"\ndyn = gd.NewtonEuler(model{'' if subject.clean == 1e-11 else f', clean={subject.clean:g}'})"
    code += "\nprint(model, dyn.changes)"
    lead = "What the package reads of the URDF, and what it remarks on; numbers are in the axes of the joint."
    return PageSection("What the URDF says", lead, body, code)


def agrees(subject: Subject) -> tuple[PageSection, list[Report]]:
    """Each formulation against Pinocchio."""
    names = [
        name for name in sorted(formulations(), reverse=True) if name == "newton_euler" or subject.tree.nv <= _LARGE
    ]
    reports = []
    for name in names:
        dynamics = (
            subject.dynamics if name == "newton_euler" else formulations()[name](subject.model, clean=subject.clean)
        )
        reports.append(validate(dynamics, subject.model, samples=STATES, seed=0, progress=False))
    rows = []
    for check in reports[0].checks:
        cells = []
        for report in reports:
            result = next((other for other in report.checks if other.name == check.name), None)
            good = "–" if result is None else "good" if result.ok else "bad"
            cells.append("–" if result is None else f"<span class={good}>{result.error:.0e}</span>")
        rows.append((escape(check.name), *cells, f"{check.tolerance:.0e}"))
    ok = all(report.ok for report in reports)
    words = [name.replace("_", " ") for name in names]
    verdict = "agree with Pinocchio" if ok else "do not all agree with Pinocchio"
    body = f"<p class={'good' if ok else 'bad'}>{escape(', '.join(words))}: all quantities {verdict}.</p>"
    body += table(("quantity or law", *words, "tolerance"), rows, is_html=True)
    reasons = dict.fromkeys(text for report in reports for text in (*report.not_checked, *report.diagnosis))
    body += bullets(reasons) if reasons else ""
    if len(names) < len(formulations()):
        body += paragraph(
            f"The robot has {subject.tree.nv} velocities: of the other formulations, whose graphs are larger, "
            "gdalembert validate shows the same.",
            "note",
        )
    lead = f"The largest relative errors over {STATES} random states; green is within the tolerance."
    code = f"print(gd.validate(dyn, against=model, samples={STATES}))"
    return PageSection("Validation against Pinocchio", lead, body, code), reports


def base(subject: Subject) -> PageSection:
    """The combinations of inertial parameters that torques tell."""
    base_parameters = subject.dynamics.base_parameters
    values = base_parameters.of(subject.model)
    every = 10 * len(subject.tree.links)
    rows = [
        (escape(label), number(value), f"<span>{escape(name)}</span>")
        for label, name, value in zip(base_parameters.labels, base_parameters.names, values, strict=True)
    ]
    tabled = table(("base parameter", "value", "what it is"), rows, (0, 2), is_html=True)
    tabled = tabled.replace("<td class=l><span>", "<td class=f><span>")
    body = paragraph(
        f"Of {every} inertial parameters the torques depend on "
        f"{several(len(base_parameters), 'combination', 'combinations')}; "
        "no motion tells the others. A fit (gdalembert identify) estimates these."
    )
    body += folded(f"the {several(len(base_parameters), 'base parameter', 'base parameters')}", tabled)
    lead = "What can be identified from measured motion and torques; links are in frames of the package."
    code = "base = dyn.base_parameters\nfor label, name, value in zip(base.labels, base.names, base.of(model)):"
    return PageSection("Base parameters", lead, body, f"{code}\n    print(label, value, name)")


def formulas(subject: Subject) -> PageSection:
    """The short entries of g and M."""
    title, lead = "Closed forms", "Entries of the gravity torques and of the mass matrix that are short."
    if subject.tree.nv > _FORMS:
        text = f"The robot has {subject.tree.nv} velocities, and its formulas fill pages; code of any size, for a "
        text += "controller or a simulator, is written by gdalembert derive --to c, python, jax, rust or matlab."
        return PageSection(title, lead, paragraph(text))
    body = ""
    shorts: list[Callable[[], str]] = [
        lambda: _forms(subject, "generalized_gravity", "g", STATES),
        lambda: _forms(subject, "mass_matrix", "M", _FEW),
    ]
    for write in shorts:
        try:
            body += write()
        except UnsupportedError as error:
            body += paragraph(f"{error}.")
    if not body:
        body = paragraph("No entry is short; gdalembert derive --to latex writes them all.")
    body += paragraph(
        "s₂ is sin q₂, c₂₃ is cos(q₂ + q₃); other letters are constants of the URDF, in the axes of their joints. "
        "gdalembert derive --to latex writes all formulas.",
        "note",
    )
    code = "from gdalembert import symbolic\n\nforms = symbolic.closed_forms(model, gd.LagrangeEuler, "
    code += 'of="generalized_gravity")\nprint(symbolic.readable(forms["g"]))'
    return PageSection(title, lead, body, code)


def _forms(subject: Subject, function: str, letter: str, most: int) -> str:
    """The short entries of one matrix, as MathML."""
    (matrix,) = closed_forms(subject.model, LagrangeEuler, of=function, max_terms=100_000).values()
    rows: list[str] = []
    long = 0
    for i, j in np.ndindex(matrix.shape):
        if j > i or matrix[i, j] == TrigonometricPolynomial.of(0):
            continue
        entry = readable(matrix[i, j]) if len(matrix[i, j]) <= _SHORT else None
        if entry is None or sympy.count_ops(entry) > _SHORT or len(rows) >= most:
            long += 1
            continue
        place = f"{i + 1}" if matrix.shape[1] == 1 else f"{i + 1}{j + 1}"
        formula = sympy.mathml(
            sympy.Eq(sympy.Symbol(f"{letter}_{place}"), entry, evaluate=False), printer="presentation"
        )
        rows.append(f'<tr><td><math xmlns="http://www.w3.org/1998/Math/MathML">{formula}</math></td></tr>')
    if not rows:
        return ""
    rest = f" {several(long, 'entry is', 'entries are')} not shown here." if long else ""
    name = "Gravity torques g" if letter == "g" else "Mass matrix M, its lower triangle"
    return f"<h3>{name}</h3><div class=wide><table class=forms>{''.join(rows)}</table></div>" + (
        paragraph(rest, "note") if rest else ""
    )
