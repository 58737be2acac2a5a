"""The head of every export: the robot, the source, the order of the coordinates, the units."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from importlib import metadata

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.simplified.dynamics import SimplifiedDynamics
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.source_text import comment_text
from gdalembert.symbolic.constants import SymbolicTree

_WRENCH = ("f_x", "f_y", "f_z", "m_x", "m_y", "m_z")

_SYMBOLS = {
    "m_i": "mass of link i [kg]",
    "c_ix, c_iy, c_iz": "its centre of mass, from the origin of joint i, in the axes of the link [m]",
    "I_ixx, I_iyy, I_izz, I_ixy, I_ixz, I_iyz": "its inertia tensor about the centre of mass [kg m^2]",
    "p_ix, p_iy, p_iz": "position of joint i on the parent link [m]",
    "beta_i, roll_i, pitch_i, yaw_i": "fixed angles of the frame of joint i [rad]",
    "offset_i": "offset of a mimicking joint [rad or m]",
    "I_act_i": "rotor inertia at joint i [kg m^2 or kg]",
    "g, g_x, g_y, g_z": "gravity [m/s^2]",
    "l_i": "length of flexible link i [m]",
    "mu_i": "its mass per length [kg/m]",
    "j_iy, j_iz": "its section inertia about y and z [kg m]",
    "EI_iz": "its stiffness in bending in y [N m^2]",
    "EI_iy": "its stiffness in bending in z [N m^2]",
    "EA_i": "its stiffness in extension [N]",
    "GJ_i": "its stiffness in torsion [N m^2]",
    "P_ij, H_ij": "integrals of phi and of x phi along link i, phi being the displacement in its mode j",
    "C_ijk": "integral of the product of phi in modes j and k",
    "T_ij, S_ijk": "integrals of psi, and of the product of psi in modes j and k, psi being the rotation of sections",
    "B_ijk": "integral of the product of curvatures, strains or twists in modes j and k",
    "P_ijx, H_ijxx, C_ijkxx": "integrals over the mass dm of a link that is no uniform beam, of phi, of phi times a "
    "coordinate and of products of phi, by axes",
    "K_ijk, D_ijk": "stiffness and damping of modes j and k of link i",
    "u_ij, theta_ij": "displacement and rotation of the tip of link i in its mode j",
    "u_ijs, theta_ijs": "the same of another cross section",
    "s_ijk, s_ijks": "shortening in modes j and k",
    "m_is": "mass of the bodies at a cross section of link i, t being the tip [kg]",
    "c_isx, c_isy, c_isz": "their centre of mass [m]",
    "I_isxx, I_isyy, I_iszz, I_isxy, I_isxz, I_isyz": "their inertia tensor about it [kg m^2]",
    "p_isx, p_isy, p_isz": "position of a cross section on the undeformed beam [m]",
    "p_irx, p_iry, p_irz, beta_ir, roll_ir, pitch_ir, yaw_ir": "placement of the beam on its link [m, rad]",
    "k_i, k_ii": "stiffness of springs at the coordinates of these numbers [N m/rad or N/m]",
    "d_i, d_ii": "damping of springs there",
}
"""The meaning of the symbols that ``symbolic_tree`` chooses."""
UNITS = "Units are SI: m, kg, s, rad, N, N m, J. Order and frames are Pinocchio's."


def called(dynamics: Dynamics) -> str:
    """The name of a formulation, or that of its class."""
    return getattr(dynamics, "name", getattr(dynamics, "represents", type(dynamics)).__name__)


def origin(dynamics: Dynamics) -> list[str]:
    """The source of the equations, and the package that writes them with its version, a line each."""
    named = [f"{cited.equations}: {cited.text}" for cited in dynamics.sources if cited.equations]
    source = named[0] if named else f"formulation {called(dynamics)}."
    return [source, f"Written by gdalembert {metadata.version('gdalembert')}."]


def notes(dynamics: Dynamics, constants: Iterable[str] = (), about: Sequence[str] = ()) -> list[str]:
    """Lines of up to 100 characters; ``constants`` are lines about the constants, ``about`` replaces the origin."""
    tree = dynamics.tree
    source, writer = about or origin(dynamics)
    lines = [f"{comment_text(tree.name)}: {source}", writer, "", UNITS]
    lines += [f"{joint}: {coordinate}" for joint, coordinate in coordinates(tree)]
    if not isinstance(tree.gravity, ca.SX):
        lines.append(f"gravity: ({', '.join(f'{x:.9g}' for x in tree.gravity)}) m/s^2")
    lines += [
        f"spring of {comment_text(name)}: stiffness {np.asarray(stiffness).tolist()}, "
        f"rest {np.asarray(rest).tolist()} (SI)"
        for name, (stiffness, rest) in dynamics.springs.items()
        if f"{name}.stiffness" not in dynamics.parameters
    ]
    known = not np.isnan(dynamics.parameters.values).any()
    forces = dynamics.at().forces if known else dynamics.forces
    for force in forces[1:] if dynamics.springs else forces:
        listed = ", ".join(f"{comment_text(name)} = {x!r}" for name, x in force.parameters.items()) if known else ""
        lines.append(f"force in tau, nle and a: {comment_text(force.name)}{listed and f' ({listed}, SI)'}")
    if isinstance(dynamics, SimplifiedDynamics):
        lines += ["", *_bounds(dynamics)]
    wrapper = textwrap.TextWrapper(100, subsequent_indent="  ", break_on_hyphens=False)
    return [part for line in (*lines, *constants) for part in wrapper.wrap(line) or [""]]


def values(tree: SymbolicTree, names: Iterable[str], automatic: bool) -> list[str]:
    """Lines with the meaning of symbols and their values in the robot."""
    used = sorted(names)
    meanings = [f"{kind}: {meaning}" for kind, meaning in symbols(used).items()] if automatic else []
    numbers = [f"{name} = {float(tree.numbers[name])!r}" for name in used if name in tree.numbers]
    return ["", *meanings, *numbers]


def parameters(dynamics: Dynamics, automatic: bool = False) -> list[str]:
    """Lines with the names of the entries of p and their values in the robot, in their order; none without p."""
    named = dynamics.parameters
    if not named:
        return []
    meanings = [f"{kind}: {meaning}" for kind, meaning in symbols(named.names).items()] if automatic else []
    known = [f"{comment_text(name)} = {value!r}" for name, value in dict(named).items() if not np.isnan(value)]
    return ["", *meanings, *known, "", f"p: {', '.join(map(comment_text, named.names))}"]


def wrenches(dynamics: Dynamics) -> list[str]:
    """A line with the frames and references of the columns of the input ``wrenches``; none without it."""
    external = dynamics.external_wrenches
    if not external.is_input:
        return []
    named_columns = zip(external.names, external.references, external.rows, strict=True)
    if len(set(external.rows)) > 1:
        parts = (f"{comment_text(x)} ({r.name}, {', '.join(_WRENCH[:rows])})" for x, r, rows in named_columns)
        return ["", f"wrenches, one column, on the robot: {', '.join(parts)}"]
    columns = (f"{comment_text(x)} ({r.name})" for x, r, _ in named_columns)
    entries = ", ".join(_WRENCH[: external.shape[0]])
    return ["", f"wrenches, column by column, each ({entries}) on the robot: {', '.join(columns)}"]


def coordinates(tree: Tree) -> list[tuple[str, str]]:
    """Each joint that has coordinates of its own, and their names. Two joints may have one name in plain text."""
    lines: list[tuple[str, str]] = []
    for joint in tree.independent_joints:
        modes = joint.type.coordinate_names
        lines += [] if modes else [(comment_text(joint.name), _coordinates(joint))]
        for k, mode in enumerate(modes, 1):
            names = ", ".join(f"{x}_{first + k}" for x, first in zip(("q", "v", "tau"), _starts(joint), strict=True))
            lines.append((comment_text(mode), f"{names}, a modal coordinate"))
    return lines


def _starts(joint: Joint) -> tuple[int, int, int]:
    return joint.idx_q, joint.idx_v, joint.idx_v


def symbols(names: Iterable[str]) -> dict[str, str]:
    """The meaning of automatic symbols, by kind, of the kinds that are among ``names``."""
    used = set(map(_kind, names))
    kinds = {", ".join(x for x in kind.split(", ") if x in used): meaning for kind, meaning in _SYMBOLS.items()}
    return {kind: meaning for kind, meaning in kinds.items() if kind}


_INDICES = dict.fromkeys(("P", "H", "T", "u", "theta"), "ij") | dict.fromkeys("CSBKDs", "ijk")
"""Indices of the symbols of modes: link, and modes."""


def _kind(name: str) -> str:
    """A symbol with letters for the numbers in its name; those of axes are x where a symbol of modes has them."""
    letter, _, rest = name.partition("_")
    letter = "s" if re.fullmatch(r"s\d+", letter) else letter
    if letter in _INDICES and (
        match := re.fullmatch(r"\d{2,}(?:_\d+)*(s\d+)?([xyz]*)|\d+(?:_\d+)+(s\d+)?([xyz]*)", rest)
    ):
        return (
            f"{letter}_{_INDICES[letter]}{'s' if match[1] or match[3] else ''}{'x' * len(match[2] or match[4] or '')}"
        )
    if letter in ("k", "d"):
        return f"{letter}_{'i' * (1 + rest.count('_'))}"
    return re.sub(r"_\d+(t|s\d+)", "_is", name) if re.search(r"_\d+(t|s\d+)", name) else re.sub(r"_\d+", "_i", name)


def modal_coordinates(tree: SymbolicTree) -> list[str]:
    """A line with the names that closed forms have for modal coordinates."""
    if tree.arm is None or not tree.arm.modal_indices:
        return []
    pairs = (f"f_{index} = q_{k + 1}" for k, index in tree.arm.modal_indices.items())
    return [
        f"f_ij, v_ij, a_ij are entries of q, v, a: mode j of link i, of the joints from the base; {', '.join(pairs)}"
    ]


def signature(name: str, function: ca.Function) -> str:
    """``mass_matrix(q (3)) -> M (3 x 3)``."""

    def named(x: str, rows: int, columns: int) -> str:
        return f"{x} ({rows})" if columns == 1 else f"{x} ({rows} x {columns})"

    arguments = (named(x, *function.size_in(x)) for x in function.name_in())
    results = (named(x, *function.size_out(x)) for x in function.name_out())
    return f"{name}({', '.join(arguments)}) -> {', '.join(results)}"


def angles(model: pin.Model | Tree) -> list[str]:
    """A line about the joints with one entry of q, an angle, in closed forms, and two in Pinocchio."""
    names = ", ".join(comment_text(x.name) for x in read_tree(model).independent_joints if _has_angle(x))
    return [f"q_i is an angle here; Pinocchio's q has its cosine and sine instead: {names}"] if names else []


def _has_angle(joint: Joint) -> bool:
    """True if one angle can replace cosine and sine in q."""
    return joint.type.in_minimal_coordinates() != joint.type


def _bounds(dynamics: SimplifiedDynamics) -> list[str]:
    """The bound of each torque's error, and the limits that it holds for."""
    limits, kept = dynamics.limits, len(dynamics.kept)
    rows = zip(dynamics.tree.velocity_names, dynamics.bound, limits.tau, limits.v, limits.a, strict=True)
    return [
        f"Simplified: {kept} of {kept + len(dynamics.dropped)} terms. Each torque differs from the exact one by at "
        "most its bound, as long as |v| and |a| are within the limits here:",
        *(
            f"{comment_text(name)}: bound {float(bound)!r}, {bound / tau:.2%} of {tau:.6g}; "
            f"|v| <= {v:.6g}, |a| <= {a:.6g}"
            for name, bound, tau, v, a in rows
        ),
        *(
            f"{comment_text(joint.name)}: {limits.lower[k]:.6g} <= q_{joint.idx_q + 1} <= {limits.upper[k]:.6g}"
            for k, joint in enumerate(dynamics.tree.independent_joints)
            if joint.type.is_prismatic
        ),
    ]


def _coordinates(joint: Joint) -> str:
    nq, nv = joint.type.nq, joint.type.nv
    ranges = (("q", joint.idx_q, nq), ("v", joint.idx_v, nv), ("tau", joint.idx_v, nv))
    q, v, tau = (f"{x}_{k + 1}" + (f" ... {x}_{k + n}" if n > 1 else "") for x, k, n in ranges)
    if _has_angle(joint):
        first, last = joint.idx_q + 1, joint.idx_q + 2
        return f"q_{first} = cosine, q_{last} = sine of the angle, {v} [rad/s], {tau} [N m]"
    if nq == nv == 1:
        units = (*joint.type.configuration_units, *joint.type.velocity_units, *joint.type.effort_units)
        return ", ".join(f"{x} [{unit}]" for x, unit in zip((q, v, tau), units, strict=True))
    return f"{q}, {v}, {tau}, {joint.type.kind} as in Pinocchio"
