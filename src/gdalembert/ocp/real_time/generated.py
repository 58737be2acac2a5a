"""What the arrays of a tick in C are, for those who call it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Joint, Tree
from gdalembert.nlp.step_text import ExportedArray
from gdalembert.ocp.real_time.problem import Layout, RealTimeProblem
from gdalembert.spatial.source_text import comment_text


def exported_arrays(
    problem: RealTimeProblem,
    layouts: Sequence[Layout],
    parameters: Mapping[str, str],
    varying: Collection[str],
    *,
    scheduled: bool,
    ends: bool,
) -> dict[str, ExportedArray]:
    """The arrays of a tick that its callers write and read, by key.

    Args:
        problem: the first one. ``layouts``: those of the inputs of all.
        parameters: the names of parameters by key. ``varying``: of those of every instant.
        scheduled: whether problems are in a schedule.
        ends: whether the end of the motion fixes anything.
    """
    tree, bounds, layout, before = problem.con.tree, problem.motion.bounds, layouts[0], ""
    state, of_each = _state(tree), [_inputs(tree, bounds.u_names, layout.driven) for layout in layouts]
    inputs = of_each[0]
    if any(entries != inputs for entries in of_each):
        inputs = "; ".join(f"of problem {k}: {entries}" for k, entries in enumerate(of_each))
    if layout.remembered:
        before = f"; u before: {_inputs(tree, bounds.u_names, layout.remembered)}"
    x_0 = f"the state where the motion begins, as measured. {state}{before}."
    arrays = {
        "x_0": ExportedArray("x_0", x_0),
        "x": ExportedArray("x", "the plan: row k is the state at instant k, with entries as those of x_0.", False),
        "u": ExportedArray("u", f"the plan: row k is held over interval k, the last one over none. {inputs}.", False),
        "w": ExportedArray("w", "accelerations, and forces of contacts and loops, where a tick begins.", False),
    }
    if scheduled:
        meaning = "the number of the problem of each interval, and as the last entry that of the last one once more."
        arrays["set"] = ExportedArray("set", meaning)
    if ends:
        x_end = f"the state where the motion ends, of which the entries that are fixed are read. {state}."
        if problem.con.nc:
            x_end += " It satisfies contacts and loops, and is fixed in the directions of the last problem of the plan."
        arrays["x_end"] = ExportedArray("x_end", x_end)
    for key, name in parameters.items():
        arrays[key] = ExportedArray(name, _parameter(problem, name, varies=name in varying))
    return arrays


def check_names(stem: str, parameters: Iterable[str], taken: Iterable[str], functions: Iterable[str]) -> None:
    """Refuse parameters whose names cannot be those of arrays in C; ``functions``: the kinds of those in the file.

    Raises:
        ArgumentError: if one has the name of an array of its own, or of a macro, or none of C.
    """
    macros = ("H", "EXAMPLE") if stem == stem.upper() else ()
    others, kinds = {*taken, *macros}, "|".join(functions)
    for name in parameters:
        if name in others or re.fullmatch(rf"({kinds})_\d+(_at(_\d+)?)?", name):
            raise ArgumentError(
                f"generate: the parameter {name!r} would be {stem}_{name}, a name of the file itself; rename it"
            )
        if not name.isascii():
            raise ArgumentError(f"generate: the parameter {name!r} is no name in C; give it letters from a to z")


def _state(tree: Tree) -> str:
    """The entries of q and v, with units."""
    joints = tree.independent_joints
    names = [name for joint in joints for name in _names_in_q(joint)]
    q = zip(names, (unit for joint in joints for unit in joint.type.configuration_units), strict=True)
    v = zip(tree.velocity_names, (unit for joint in joints for unit in joint.type.velocity_units), strict=True)
    return f"q: {_listed(q)}; v: {_listed(v)}"


def _names_in_q(joint: Joint) -> Sequence[str]:
    if joint.type.coordinate_names:
        return joint.type.coordinate_names
    return [joint.name] if joint.type.nq == 1 else [f"{joint.name}[{k}]" for k in range(joint.type.nq)]


def _inputs(tree: Tree, names: Sequence[str], entries: Sequence[int]) -> str:
    """Some entries of u, with units."""
    units = (unit for joint in tree.independent_joints for unit in joint.type.effort_units)
    efforts = dict(zip(tree.velocity_names, units, strict=True))
    return _listed((names[k], efforts.get(names[k], "N m or N")) for k in entries)


def _listed(entries: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{comment_text(name)} [{unit}]" for name, unit in entries)


def _parameter(problem: RealTimeProblem, name: str, *, varies: bool) -> str:
    if name == "p":
        return f"p, parameters of the robot [SI]: {', '.join(map(comment_text, problem.con.parameters.names))}."
    rows = " Row k is that of instant k; the last row is written by the tick." if varies else ""
    return f"the parameter {comment_text(name)} of the problem, in the units in which its expressions have it.{rows}"
