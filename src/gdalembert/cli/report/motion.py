"""Sections about numbers: speed on this machine, torques of a swing, reachable points, gaps, the turning scene."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.cli.options import several
from gdalembert.cli.report.figures import bars, drawn, line_panels, point_views
from gdalembert.cli.report.page import PageSection, bullets, escape, folded, number, paragraph, table
from gdalembert.cli.report.subject import SAMPLES, Subject
from gdalembert.compilation.compiled_function import CompiledFunction, compile
from gdalembert.distances.distances import Distances
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import CompilationError, FileWarning, GdalembertError, MissingPackageError, UnsupportedError
from gdalembert.model.limits import NO_LIMIT
from gdalembert.model.tree import Frame
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.instructions import count
from gdalembert.spatial.progress import is_watched
from gdalembert.viewer.viewer import Viewer, bodies, visuals

_PINOCCHIO: dict[str, tuple[str, Callable[..., Any], str]] = {
    "inverse_dynamics": ("rnea", pin.rnea, "qva"),
    "mass_matrix": ("crba", pin.crba, "q"),
    "nle": ("nonLinearEffects", pin.nonLinearEffects, "qv"),
    "forward_dynamics": ("aba", pin.aba, "qvt"),
    "inverse_dynamics_derivatives": ("computeRNEADerivatives", pin.computeRNEADerivatives, "qva"),
    "forward_dynamics_derivatives": ("computeABADerivatives", pin.computeABADerivatives, "qvt"),
}
"""Pinocchio's counterpart of each Function, and its arguments."""
_LARGEST = 6_000
"""Instructions above which a Function is not compiled here, which would take long."""
_TIME_LIMIT = 12.0
_BATCH = 1000
_PANELS = 6
_POINTS = 4000
_FARTHER = 1.3
"""The camera's distance, so that the whole swing is seen, relative to that for its middle."""
_HEAVY = 6e6
"""Characters of a scene above which it is drawn with simple bodies."""


def _fastest(call: Callable[[], Any], calls: int = 1) -> float:
    """The shortest time of a call [µs], of 15 rounds of a few ms."""
    begun = time.perf_counter()
    call()
    once = max(time.perf_counter() - begun, 1e-7)
    number = max(1, min(1000, int(2e-3 / once)))
    rounds = []
    for _ in range(15):
        begun = time.perf_counter()
        for _ in range(number):
            call()
        rounds.append((time.perf_counter() - begun) / number)
    return 1e6 * min(rounds) / calls


def _times(subject: Subject, name: str, function: CompiledFunction | None) -> tuple[float | None, ...]:
    """Measure Pinocchio, a call, and a state in a batch [µs]."""
    model = subject.model
    data, rng = model.createData(), np.random.default_rng(0)
    q = np.array([pin.integrate(model, subject.home, 0.5 * rng.normal(size=model.nv)) for _ in range(_BATCH)])
    states = {"q": q, **{key: rng.normal(size=(_BATCH, model.nv)) for key in "vat"}}
    _, algorithm, keys = _PINOCCHIO[name]
    one = [np.ascontiguousarray(states[key][0]) for key in keys]
    try:
        theirs = _fastest(lambda: algorithm(model, data, *one))
    except (RuntimeError, ValueError, TypeError):  # of mimic joints Pinocchio has no such algorithm
        theirs = None
    if function is None:
        return theirs, None, None
    every = [np.ascontiguousarray(states[key]) for key in keys]
    function.batch(*every)
    return theirs, _fastest(lambda: function(*one)), _fastest(lambda: function.batch(*every), _BATCH)


def speed(subject: Subject) -> tuple[PageSection, tuple[float, float] | None]:
    """Sizes of graphs, and times beside Pinocchio's; how many times as fast inverse dynamics is: a call, in batches."""
    rows, reasons, ratios = [], dict[str, None](), None
    measured: dict[str, dict[str, float]] = {}
    for name, (theirs, _, _) in _PINOCCHIO.items():
        function = getattr(subject.dynamics, name)
        sizes, compiled = count(function), None
        if function.n_instructions() > _LARGEST:
            reasons[f"Functions of more than {_LARGEST:,} instructions are not compiled here, to save time"] = None
        else:
            try:
                compiled = compile(function, time_limit=_TIME_LIMIT)
            except CompilationError as error:
                reasons[str(error)] = None
        times = _times(subject, name, compiled)
        names = (f"pin.{theirs}", "compiled, a call", "compiled, in a batch")
        known = {label: x for label, x in zip(names, times, strict=True) if x is not None}
        if len(known) == 3:
            measured[name] = known
            if name == "inverse_dynamics":
                ratios = known[names[0]] / known[names[1]], known[names[0]] / known[names[2]]
        instructions, multiplications, additions = (f"{x:,}" for x in sizes.values())
        rows.append((name, instructions, multiplications, additions, *(number(x, 3) for x in times)))
    body = drawn(bars, measured, "µs") if measured else ""
    head = (
        "Function",
        "instructions",
        "multiplications",
        "additions",
        "Pinocchio [µs]",
        "a call [µs]",
        "in a batch [µs]",
    )
    body += table(head, rows) + "".join(paragraph(f"{text}.", "note") for text in reasons)
    body += paragraph(
        f"Both are called from Python, as a script does, and the shortest of 15 rounds counts; a batch has {_BATCH} "
        "states on one core. Pinocchio is that of the wheel.",
        "note",
    )
    lead = "The smallest graph of each quantity, and how long it takes on this machine, compiled, beside Pinocchio."
    code = "f = gd.compile(dyn.inverse_dynamics)  # needs a C compiler\nprint(dyn.inverse_dynamics.n_instructions())"
    code += "\nq, v, a = pin.neutral(model), np.zeros(model.nv), np.ones(model.nv)"
    code += "\nprint(f(q, v, a), f.batch(np.tile(q, (1000, 1)), v, a).shape)"
    return PageSection("Graph sizes and speed", lead, body, code), ratios


def torques(subject: Subject) -> PageSection:
    """The terms of each joint's torque over the swing."""
    title, dynamics, swing = "Torques of a swing", subject.dynamics, subject.swing
    lead = "All joints swing from rest to rest; each torque is the sum of the terms of M a + C v + g."
    columns = [column for _, column in subject.driven]
    if not columns:
        return PageSection(title, lead, paragraph("No joint of the robot has a motor."))
    q, v, a = swing.q.T, swing.v.T, swing.a.T
    gravity = dynamics.generalized_gravity(q).full()
    velocity = dynamics.nle(q, v).full() - gravity
    total = dynamics.inverse_dynamics(q, v, a).full()
    parts = {"torque": total, "inertia M a": total - velocity - gravity, "velocity C v": velocity, "gravity g": gravity}
    names = subject.tree.velocity_names
    units = {column: joint.type.effort_units[column - joint.idx_v] for joint, column in subject.driven}
    peaks = np.abs(total).max(axis=1)
    rows = []
    for column in columns:
        at = int(np.argmax(np.abs(total[column])))
        limit = float(subject.model.effortLimit[column])
        share = f"{100 * peaks[column] / limit:.0f} %" if 0 < limit < NO_LIMIT else "–"
        cells = [number(float(part[column, at]), 3) for part in parts.values()]
        rows.append((names[column], *cells, units[column], number(limit, 3) if share != "–" else "–", share))
    largest = sorted(sorted(columns, key=lambda column: -peaks[column])[:_PANELS])
    panels = {
        f"{names[column]} [{units[column]}]": {name: part[column] for name, part in parts.items()} for column in largest
    }
    body = drawn(line_panels, swing.t, panels)
    if len(largest) < len(columns):
        body += paragraph(f"The {_PANELS} joints with the largest torques are drawn.", "note")
    body += table(("joint", "at its peak", *list(parts)[1:], "unit", "limit", "of the limit"), rows)
    base = " A floating base does not move, and what holds it is not shown." if subject.has_floating_base else ""
    body += paragraph(
        f"In {swing.t[-1]:.3g} s each joint goes 60 % of the way to its farther limit, by 1 rad or 1 m at most, as a "
        f"polynomial of degree five, with at most half of its limit of velocity.{base}",
        "note",
    )
    ends = (f"[{', '.join(f'{x:.9g}' for x in q)}]" for q in (swing.q[0], swing.q[-1]))
    code = f"motion = gd.ocp.rest_to_rest(dyn, {', '.join(ends)}, {swing.t[-1]:.9g}, {SAMPLES})"
    code += "\nq, v, a = motion.q, motion.v, motion.a"
    code += "\ntau = dyn.inverse_dynamics(q.T, v.T, a.T)  # nv x 201\ng = dyn.generalized_gravity(q.T)"
    return PageSection(title, lead, body, code)


def reach(subject: Subject) -> PageSection:
    """The points that the ends of the robot reach."""
    title, tree = "Reachable points", subject.tree
    lead = "Where the ends of the robot come at random configurations within its limits; the cross is the origin."
    parents = {joint.parent for joint in tree.joints}
    ends: dict[str, str] = {}
    for i, joint in enumerate(tree.joints):
        frames = [frame for frame in tree.frames if frame.joint == i]
        if i not in parents and frames and not (joint.type.nv == 6 and subject.has_floating_base):
            ends[max(frames, key=_far).name] = joint.name
    if not ends or not subject.driven:
        return PageSection(title, lead, paragraph("No link of the robot moves by a motor."))
    q = _configurations(subject)
    kinematics, points, rows = Kinematics(subject.model), {}, []
    for frame, joint_name in ends.items():
        positions = kinematics.frame_placement(frame)(q.T).full().reshape(4, -1, 4)[:3, :, 3].T
        points[frame] = positions
        far = np.linalg.norm(positions, axis=1)
        ranges = [
            f"{low:.3g} … {high:.3g}" for low, high in zip(positions.min(axis=0), positions.max(axis=0), strict=True)
        ]
        rows.append((frame, joint_name, number(float(far.min()), 3), number(float(far.max()), 3), *ranges))
    body = drawn(point_views, points)
    head = ("frame", "on the link of", "nearest [m]", "farthest [m]", "x [m]", "y [m]", "z [m]")
    body += table(head, rows, (0, 1))
    base = "The floating base stands at zero. " if subject.has_floating_base else ""
    body += paragraph(
        f"{several(_POINTS, 'configuration', 'configurations')}, for each end the frame that is farthest from its last "
        f"joint. {base}A joint without limits turns by half a turn, or moves by 1 m, each way. Those in "
        "which links collide are among them.",
        "note",
    )
    first = next(iter(ends))
    code = f"placement = gd.Kinematics(model).frame_placement({first!r})\nprint(placement(pin.neutral(model)))"
    return PageSection(title, lead, body, code)


def _configurations(subject: Subject) -> Array:
    """Configurations at random within the limits (rows)."""
    rng, way = np.random.default_rng(0), np.zeros((_POINTS, subject.tree.nv))
    for joint, column in subject.driven:
        way[:, column] = rng.uniform(*subject.way_to_limits(joint, column), _POINTS)
    return np.array([pin.integrate(subject.model, subject.home, row) for row in way])


def gaps(subject: Subject) -> PageSection:
    """The least gaps between the collision bodies of links, and their covers."""
    title, lead = "Gaps between links", "How near the collision bodies of links come to each other, by their covers."
    if not subject.with_gaps:
        return PageSection(title, lead, paragraph("They are left out (--no-gaps)."))
    begun = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileWarning)
        geometry = bodies(subject.source, subject.model, subject.package_dirs, "collision", "gaps are not known")
    if geometry is None:
        text = " ".join(f"{warning.message}." for warning in caught if issubclass(warning.category, FileWarning))
        return PageSection(title, lead, paragraph(text or "The robot has no collision bodies."))
    try:
        shapes = Distances(subject.model, geometry, progress=is_watched())
    except GdalembertError as error:
        return PageSection(title, lead, paragraph(f"There are no gaps: {error}."))
    every: dict[tuple[str, str], list[int]] = {}
    for k, pair in enumerate(shapes.pairs):
        every.setdefault(pair, []).append(k)
    swing, at_random = (shapes.distance(q.T).full() for q in (subject.swing.q, _configurations(subject)))
    rows = []
    for pair, lines in sorted(every.items(), key=lambda item: float(swing[item[1]].min())):
        gap, others = swing[lines].min(axis=0), at_random[lines].min(axis=0)
        numbers = (gap.min(), subject.swing.t[gap.argmin()], others.min())
        rows.append((*pair, *(number(float(x), 3) for x in numbers), f"{100 * (others < 0).mean():.1f} %"))
    head = ("body", "and", "least in the swing [m]", "at [s]", "least at random [m]", "touch at random")
    body = table(head, rows, (0, 1)) if rows else paragraph("No two links come near each other.")
    body += folded("covers, and pairs that are left out", bullets(shapes.report().splitlines()))
    body += paragraph(
        "A gap is at most the true one, since covers are around the bodies; a negative one is how deep they overlap. "
        f"{several(_POINTS, 'configuration', 'configurations')} at random. These gaps took "
        f"{time.monotonic() - begun:.0f} s.",
        "note",
    )
    folders = [str(folder) for folder in (*subject.package_dirs, *Path(subject.source).resolve().parents)]
    code = f"path, folders = {str(Path(subject.source).resolve())!r}, {folders!r}"
    code += "\ngeometry = pin.buildGeomFromUrdf(model, path, pin.GeometryType.COLLISION, package_dirs=folders)"
    code += "\nshapes = gd.Distances(model, geometry)\nprint(shapes.report(), shapes.distance(motion.q.T))"
    return PageSection(title, lead, body, code)


def _far(frame: Frame) -> tuple[float, bool]:
    """The key by which the farthest frame is chosen, and of frames at the same place that of a link."""
    return round(float(np.linalg.norm(frame.translation)), 9), "JOINT" not in frame.type


def scene(subject: Subject) -> str:
    """The robot in its swing, to turn with the mouse; or a sentence that says why there is none."""
    t, q = subject.swing.t, subject.swing.q
    way = np.concatenate([t, t[-1] + 0.4 + t]), np.vstack([q, q[::-1]])
    note = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileWarning)
        try:
            seen = None if subject.plain else visuals(subject.source, subject.model, subject.package_dirs)
            text = _scene(subject, seen, way)
            if seen is not None and len(text) > _HEAVY:
                note = f"Its meshes would take {len(text) / 1e6:.0f} MB: simple bodies are drawn instead. "
                text = _scene(subject, None, way)
        except (MissingPackageError, UnsupportedError) as error:
            return paragraph(f"There is no scene: {error}.", "note")
    note += " ".join(f"{warning.message}." for warning in caught if issubclass(warning.category, FileWarning))
    words = f"The swing of the torques below. Drag to turn, scroll to come nearer. {note}"
    return (
        f'<div class=scene><iframe title="the robot" srcdoc="{escape(text)}"></iframe>{paragraph(words, "note")}</div>'
    )


def _scene(subject: Subject, seen: pin.GeometryModel | None, motion: tuple[Array, Array]) -> str:
    middle = subject.swing.q[len(subject.swing.q) // 2]
    with Viewer(subject.model, q=middle, visual_model=seen, port=0) as viewer:
        camera = viewer.server.initial_camera
        centre = np.asarray(camera.look_at)
        camera.position = centre + _FARTHER * (np.asarray(camera.position) - centre)
        return viewer.page(motion, fps=20)
