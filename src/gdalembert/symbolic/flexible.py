"""Closed forms of planar flexible arms: M, C, G, K in lengths, masses per length, stiffnesses and mode integrals.

Cetinkunt and Book (1988): links are slender uniform beams with bending in the plane, R_E = 1 + [ϑ×], without
section inertia and foreshortening. The formulas are the explicit equations (CB32 to CB35) of
:mod:`gdalembert.flexible.reference.cetinkunt_book_1988` with symbols for numbers; nothing is derived a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
import sympy

from gdalembert.errors import ArgumentError, shown
from gdalembert.flexible.reference import cetinkunt_book_1988 as explicit
from gdalembert.model.joints import Revolute
from gdalembert.model.joints.deflection import FirstOrderDeflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.interrupts import interruptible
from gdalembert.symbolic.closed_forms import MAX_TERMS, Formulas, to_trigonometric
from gdalembert.symbolic.formula import Vector, formulas, symbol
from gdalembert.symbolic.tree import Constants

_MOST = 9
"""Largest number of links, and of modes of a link: each has one digit in the names of symbols."""


@interruptible
def flexible_arm_forms(
    modes: Sequence[int] = (1, 1),
    *,
    tip_masses: Vector | None = None,
    gravity: Vector = (0, "-g", 0),
    max_terms: int = MAX_TERMS,
) -> dict[str, Formulas]:
    """The terms of M a + C + G + K q = tau of a planar arm with flexible links, in unique form.

    Joint axes are z, each at the tip of the previous link; beams lie along x; modes are bending in y, clamped at the
    root. With φ_ij(η) for mode j of link i, the symbols are

    * ``q_1, q_2 …`` joint angles [rad], ``f_ij`` modal coordinates; ``v_1, v_2 …`` and ``v_ij`` their rates;
    * ``l_i`` length [m], ``mu_i`` mass per length [kg/m], ``EI_i`` bending stiffness [N m²], ``g`` [m/s²];
    * ``P_ij`` = ∫ φ_ij dη, ``H_ij`` = ∫ η φ_ij dη, ``C_ijk`` = ∫ φ_ij φ_ik dη, ``B_ijk`` = ∫ φ_ij″ φ_ik″ dη, j ≤ k;
    * ``u_ij`` = φ_ij(l_i), ``theta_ij`` = φ_ij′(l_i).

    Rows and columns: the joints, then the modes, link by link, as in :class:`~gdalembert.FlexibleArm`.

    Args:
        modes: the number of modes of each link, from the base outward; 0 for a rigid link.
        tip_masses: point masses [kg] at the tips (the next joint, a payload; CB40, CB41); by default none.
        gravity: acceleration (3) [m/s²].
        max_terms: the size at which to give up, see :func:`~gdalembert.symbolic.to_trigonometric`.

    Returns:
        ``"M"`` (n × n), ``"C"``, the velocity vector C(q, v) (n × 1), ``"G"`` (n × 1), ``"K"`` (n × n).

    Raises:
        ArgumentError: if ``modes``, ``tip_masses`` or ``gravity`` cannot be used, or names a coordinate.
        ArgumentTypeError: if a formula is not one.
        UnsupportedError: if the arm is too large; the message has its size.

    Source: CB32 to CB35 with the corrections of
    :mod:`gdalembert.flexible.reference.cetinkunt_book_1988`; CB14 and CB20 for the integrals.
    """
    counts = _checked(modes)
    joints = [str(i) for i in range(1, len(counts) + 1)]
    modal = [f"{i}{j}" for i, count in enumerate(counts, 1) for j in range(1, count + 1)]
    names = {"q": [f"q_{k}" for k in joints] + [f"f_{k}" for k in modal], "v": [f"v_{k}" for k in joints + modal]}
    masses = formulas([0] * len(counts) if tip_masses is None else tip_masses, len(counts), "tip_masses")
    acceleration = formulas(gravity, 3, "gravity")
    for argument, values in (("tip_masses", masses), ("gravity", acceleration)):
        if taken := {x.name for value in values for x in value.free_symbols} & {*names["q"], *names["v"]}:
            raise ArgumentError(f"{argument}: {min(taken)} is a coordinate or rate of the arm; give it another name")
    constants = Constants()
    down: Any = constants.vector(acceleration)
    robot = explicit.SymbolicRobot(_tree(counts, masses, constants))
    stiffnesses = [  # CB29, CB35
        constants.matrix([[_integral("EI", i) * _integral("B", i, j, k) for k in range(n)] for j in range(n)])
        for i, n in enumerate(counts, 1)
        if n
    ]
    # not the public functions of the same names: they evaluate, and take no free symbols
    terms = {
        "M": explicit.free_mass_matrix(robot),
        "C": explicit.free_coriolis_vector(robot),
        "G": explicit.free_gravity_vector(robot, down),
        "K": ca.diagcat(ca.SX(len(counts), len(counts)), *stiffnesses),
    }
    inputs = {"q": robot.q, "v": robot.v, "p": ca.vertcat(*constants.symbols.values())}
    function = ca.Function("flexible_arm", [*inputs.values()], [*terms.values()], [*inputs], [*terms])
    return to_trigonometric(function, {**names, "p": list(constants.symbols)}, max_terms=max_terms)


def _checked(modes: Sequence[int]) -> list[int]:
    counts = list(modes) if isinstance(modes, Sequence) and not isinstance(modes, str) else []
    whole = all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= _MOST for n in counts)
    if not whole or not 1 <= len(counts) <= _MOST:
        raise ArgumentError(f"modes={shown(modes)}: give 1 to {_MOST} links a number of modes from 0 to {_MOST} each")
    return counts


def _integral(letter: str, i: int, *modes: int) -> sympy.Symbol:
    """The symbol of a constant of link i (from 1) and of its modes (from 0): ``P_11``."""
    return symbol(f"{letter}_{i}" + "".join(str(j + 1) for j in sorted(modes)))


def _tree(counts: Sequence[int], masses: Sequence[sympy.Expr], constants: Constants) -> Tree:
    """The arm, each joint on the tip of the link before it."""
    joints: list[Joint] = []
    inertias: list[tuple[int, ModalInertia]] = []
    rotation, origin, first = np.eye(3), np.zeros(3), len(counts)
    for i, (n, mass) in enumerate(zip(counts, masses, strict=True), 1):
        length, link, turning = _integral("l", i), len(joints), Revolute((0.0, 0.0, 1.0))
        inertia = _inertia(i, n, length, constants)
        tip: dict[str, Any] = {
            "origin": constants.vector([length, sympy.S.Zero, sympy.S.Zero]),
            "translation": constants.matrix([[0] * n, [_integral("u", i, j) for j in range(n)], [0] * n]),
            "rotation": constants.matrix([[0] * n, [0] * n, [_integral("theta", i, j) for j in range(n)]]),
            "shortening": np.zeros((n, n)),
            "beam": np.array([1.0, 0.0, 0.0]),
        }
        body: Any = constants.matrix(sympy.diag(0, 0, 0, mass).tolist())
        joints.append(Joint(f"joint{i}", turning, link - 1, rotation, origin, inertia.rigid, i - 1, i - 1))
        joints.append(Joint(f"tip{i}", FirstOrderDeflection(**tip), link, rotation, origin, body, first, first))
        inertias.append((link, inertia))
        first += n
    links = tuple(range(0, len(joints), 2))
    names = tuple(joints[i].name for i in links)
    rest: dict[str, Any] = {"gravity": np.zeros(3), "frames": (), "modal_inertias": tuple(inertias)}
    rest |= dict.fromkeys(("armature", "damping", "friction"), np.zeros(first))
    return Tree("arm", first, first, tuple(joints), links=links, joint_names=names, **rest)


def _inertia(i: int, n: int, length: sympy.Symbol, constants: Constants) -> ModalInertia:
    """The inertia of points (η, 0, 0, 1) with displacements (0, φ_j, 0, 0); M, C and G do not need the stiffness."""
    mu = _integral("mu", i)

    def matrix(**entries: sympy.Expr) -> ca.SX:
        full = sympy.zeros(4)
        for place, entry in entries.items():
            full["xyz1".index(place[0]), "xyz1".index(place[1])] = mu * entry
        return constants.matrix(full.tolist())

    modes = range(n)
    first_moment = length**2 / 2
    integrals: dict[str, Any] = {
        "rigid": matrix(xx=length**3 / 3, x1=first_moment, **{"1x": first_moment, "11": length}),
        "first": [matrix(xy=_integral("H", i, j), **{"1y": _integral("P", i, j)}) for j in modes],
        "second": {(j, k): matrix(yy=_integral("C", i, j, k)) for j in modes for k in modes},
    }
    return ModalInertia(**integrals, shortening=np.zeros((0, n, n)), stiffness=np.zeros((n, n)))
