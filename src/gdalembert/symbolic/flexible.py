"""Flexible arms in formulas: integrals over the modes of each link, stiffness and damping of links and joints.

In the clamped frame of link i, x along it, mode j moves the centre line by φ_ij in one direction, and turns its
sections by ψ_ij about another: φ′ about z (bending in y), −φ′ about y (bending in z), or by the twist about x. A
uniform beam of length l_i and mass per length mu_i, with the section inertias j_iy and j_iz, has the integrals over η

    P_ij = ∫ φ_ij dη   H_ij = ∫ η φ_ij dη   C_ijk = ∫ φ_ij φ_ik dη   T_ij = ∫ ψ_ij dη   S_ijk = ∫ ψ_ij ψ_ik dη

and the stiffness EI_iz B_ijk (bending in y), EI_iy B_ijk (in z), EA_i B_ijk or GJ_i B_ijk, B_ijk = ∫ ε_ij ε_ik dη of
curvatures, strains or twists ε. Of any other link (a tapered beam, ``Nodes``) the moments of its mass P_ijb = ∫ φ_b dm,
H_ijab = ∫ r_a φ_b dm, C_ijkab = ∫ φ_ja φ_kb dm and the stiffness K_ijk stand for themselves; so does K_ijk where the
arm does not know its beams (``arm.links`` is None). The tip moves by u_ij and turns by theta_ij, station n ≥ 1 by
u_ijsn and theta_ijsn. The bodies on the tip have m_it, c_itx, …, those on station n have m_isn, ….

The equations are those of Book's recursion (:mod:`gdalembert.flexible.reference.book_1984`), which takes symbols as
well as numbers; nothing is derived a second time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, Unpack

import casadi as ca
import numpy as np
import numpy.typing as npt
import sympy

from gdalembert.dynamics.dynamics import Dynamics, Options
from gdalembert.errors import ArgumentTypeError, UnsupportedError
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.elastic_forces import ModalDamping, Stiffness
from gdalembert.flexible.flexible_arm import Arm, FirstOrderArm
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import drop
from gdalembert.model.tree import Joint
from gdalembert.spatial.arrays import Array, homogeneous
from gdalembert.symbolic.constants import AXES, ArmParts, Constants, SymbolicTree, rotation_formula

Entries: TypeAlias = npt.NDArray[Any]
"""Numbers, or formulas."""
_DIRECTIONS = {  # of φ and of ψ
    "y": ((0, 1, 0), (0, 0, 1)),
    "z": ((0, 0, 1), (0, -1, 0)),
    "x": ((1, 0, 0), (0, 0, 0)),
    "t": ((0, 0, 0), (1, 0, 0)),
}
_STIFFNESS = {"y": ("EI_z", "EI_{}z"), "z": ("EI_y", "EI_{}y"), "x": ("EA", "EA_{}"), "t": ("GJ", "GJ_{}")}
"""Stiffness of a beam by the direction of a mode: attribute and symbol."""
_ROUNDING = 1e-13
"""Relative: what is left of a difference of integrals by their rounding errors."""


class SymbolicArm(FirstOrderArm):
    """Equations of motion of a flexible arm with formulas for its constants, of exact or first-order kinematics.

    Its Functions and ``terms`` are those of the arm, by the recursion of 4 × 4 matrices (Book 1984).

    Args:
        tree: a :class:`~gdalembert.symbolic.SymbolicTree` of an arm.
        forces: force elements, in place of those of the arm.
    """

    def __init__(self, tree: SymbolicTree, **options: Unpack[Options]) -> None:
        if not isinstance(tree, SymbolicTree) or tree.arm is None:
            raise ArgumentTypeError(f"SymbolicArm: got {tree!r}; give gdalembert.symbolic.symbolic_tree(arm)")
        Dynamics.__init__(self, tree.arm.rigid, clean=0)
        self._symbolic, self.links, self.represents = tree, None, tree.arm.kind
        forces = options.get("forces")
        of_arm = tree.arm.options if forces is None else tree.arm.options | Options(forces=forces)
        self._set_elements(tree, tree.arm.flexibility, of_arm)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin or (partial(SymbolicArm, self._symbolic, forces=self._options.get("forces")), ())


class ArmFormulas:
    """The formulas of an arm that a robot with rigid links and joints does not have.

    Attributes:
        tree: the arm in numbers.
        numbers: the number of each joint of the tree in the names of symbols; of stations, that of their link and
            ``t`` or ``s1``, ``s2``, …
        links: the formulas of each flexible link, by the index of its joint.

    Raises:
        UnsupportedError: if a link is a Cosserat rod.
    """

    def __init__(self, arm: Arm, constants: Constants) -> None:
        for name in arm.flexibility.rods:
            raise UnsupportedError(
                f"link {name!r}: a Cosserat rod has no closed form: its sections turn by exponentials of its strains; "
                "take a FlexibleLink in a FirstOrderArm, or export the arm as code with numbers"
            )
        self.robot, self.constants, self.beams = arm.at(), constants, arm.links or {}
        self.tree = tree = self.robot.nominal
        joints = [(i, joint) for i, joint in enumerate(tree.joints) if not joint.type.is_modal]
        self.numbers = {i: str(k) for k, (i, _) in enumerate(joints, 1)}
        most = max([len(joints), *(inertia.shapes for inertia in tree.assumed_modes.values())])
        last = max(column + 1 for _, joint in joints for column in joint.columns)
        self.apart = "_" if most > 9 or last > 10 else ""  # v_11 is the rate of mode 1 of link 1, or of joint 11
        self.links = {i: LinkFormulas(self, i) for i in tree.assumed_modes}
        for i in self.links:
            stations = enumerate(tree.stations(i))
            self.numbers |= {station: f"{self.numbers[i]}{f's{k}' if k else 't'}" for k, station in stations}

    def rigid_part(self, i: int) -> Joint:
        """Joint i with the bodies that are not its uniform beam."""
        joint = self.tree.joints[i]
        if i not in self.links or not self.links[i].is_uniform:
            return joint
        rest = joint.pseudo_inertia - self.links[i].in_link.rigid
        return replace(joint, pseudo_inertia=drop(rest, _ROUNDING * np.abs(joint.pseudo_inertia).max()))

    def completed(self, i: int, joint: Joint) -> Joint:
        """Joint i, which has formulas, with its beam, or with the motion of its section as formulas."""
        if joint.type.is_modal:
            suffix = self.numbers[i].removeprefix(self.numbers[joint.parent]).removeprefix("t")
            return replace(joint, type=self.links[joint.parent].section(joint.type, suffix))
        if i not in self.links or not self.links[i].is_uniform:
            return joint
        whole: Any = ca.sparsify(joint.pseudo_inertia + self.links[i].inertia.rigid)
        return replace(joint, pseudo_inertia=whole)

    def parts(self) -> ArmParts:
        """The parts of the arm beside its tree."""
        modal = [joint for joint in self.tree.joints if joint.type.is_modal]
        indices = {c: self.links[joint.parent].index(k) for joint in modal for k, c in enumerate(joint.columns)}
        elastic = {force.name: force for force in self.robot.forces if isinstance(force, Stiffness | ModalDamping)}
        stiffness, damping = (
            {
                name: self._elastic(name, letter, float(elastic[kind].factors.get(name, 1.0)) * np.asarray(part))
                for name, part in elastic[kind].parts.items()
            }
            for kind, letter in (("stiffness", "k"), ("damping", "d"))
        )
        flexibility: Any = replace(self.robot.flexibility, stiffness=stiffness, damping=damping)
        options = self.robot._arguments | Options(parameters=None)
        return ArmParts(type(self.robot), self.robot.rigid_tree, flexibility, indices, options)

    def _elastic(self, name: str, letter: str, numbers: Array) -> Any:
        """The stiffness or damping (nv × nv) of a flexible link or joint; of springs between the coordinates c, k_c."""
        flexibility, formulas = self.robot.flexibility, sympy.zeros(*numbers.shape)
        columns = {joint.name: joint.idx_v for joint in self.tree.joints}
        joint_of = dict(enumerate(map(columns.__getitem__, flexibility.rotors), len(numbers) - len(flexibility.rotors)))
        link = flexibility.links.get(name)
        for row, column in np.argwhere(numbers).tolist():
            value = float(numbers[row, column])
            if link is not None:
                modes = row - link.modes.start, column - link.modes.start
                formulas[row, column] = self.links[link.link].elastic(letter, *modes, value)
            else:
                ends = sorted({joint_of.get(row, row) + 1, joint_of.get(column, column) + 1})
                sign = 1 if (row in joint_of) == (column in joint_of) else -1
                symbol = "_".join((letter, *map(str, ends)))
                formulas[row, column] = sign * self.constants.number(symbol, sign * value)
        return self.constants.matrix(formulas.tolist())


class LinkFormulas:
    """The constants of the flexible link that joint i of an arm moves, as formulas.

    Attributes:
        in_link: the integrals in numbers, in the link frame.
        is_uniform: whether they are those of a uniform beam.
        inertia: the integrals as formulas; of the undeformed link only what its uniform beam has.
    """

    def __init__(self, arm: ArmFormulas, i: int) -> None:
        place = next(beam for beam in arm.robot.flexibility.links.values() if beam.link == i)
        frame = next(frame for frame in arm.tree.frames if frame.name == place.root)
        beam = getattr(arm.beams.get(place.name), "beam", None)
        self.beam = beam if isinstance(beam, Beam) else None
        self.i, self.apart, self.constants, self.length = arm.numbers[i], arm.apart, arm.constants, place.length
        self.clamped, self.in_link = homogeneous(frame.rotation, frame.translation), arm.tree.assumed_modes[i]
        inverse: Any = np.linalg.inv(self.clamped)
        self.numbers, modes = self.in_link.placed(inverse), arm.tree.joints[arm.tree.first_station(i)].type
        stretches = ["x"] * (self.in_link.shapes - self.in_link.modes)
        self.letters = [*(name.rpartition(" ")[2][:1] for name in modes.coordinate_names), *stretches]
        self.has_directions = all(letter in _DIRECTIONS for letter in self.letters)
        named = self.constants.named if self.constants.others == "symbols" else self.constants.angle
        turn = rotation_formula(frame.rotation, f"{self.i}r", named)
        at = [self._number(f"p_{self.i}r{x}", value) for x, value in zip(AXES, frame.translation, strict=True)]
        self.frame: Entries = np.array(turn.row_join(sympy.Matrix(at)).col_join(sympy.Matrix([[0, 0, 0, 1]])).tolist())
        uniform = self._uniform() if self.has_directions else None
        self.is_uniform = uniform is not None
        self.inertia = self._in_link(*(uniform or self._moments()))

    def index(self, *modes: int) -> str:
        """The indices of modes (from 0) behind that of the link."""
        return self.apart.join((self.i, *(str(mode + 1) for mode in modes)))

    def elastic(self, letter: str, j: int, k: int, value: float) -> sympy.Expr:
        """An entry of the stiffness or damping of its modes."""
        index, mode = self.index(*sorted((j, k))), self.letters[j]
        if letter == "k" and self.beam is not None and mode == self.letters[k] and mode in _STIFFNESS:
            attribute, name = _STIFFNESS[mode]
            if not callable(modulus := getattr(self.beam, attribute)):
                return self._number(name.format(self.i), modulus) * self._number(f"B_{index}", value / modulus)
        return self._number(f"{letter.upper()}_{index}", value)

    def section(self, motion: Any, suffix: str) -> Any:
        """The motion of a station as formulas; those of the tip have no suffix."""
        turn, least = self.clamped[:3, :3], _ROUNDING * self.length
        at, names = (
            drop(turn.T @ (motion.origin - self.clamped[:3, 3]), least),
            [f"p_{self.i}{suffix}{x}" for x in AXES],
        )
        if not suffix and abs(at[0] - self.length) <= least:
            names[0], at[0] = f"l_{self.i}", self.length
        origin = np.array([[self._number(name, x)] for name, x in zip(names, at, strict=True)])

        def moved(letter: str, columns: Array, half: int) -> ca.SX:
            columns = drop(turn.T @ columns, _ROUNDING * np.abs(columns).max(initial=0))
            formulas = np.zeros(columns.shape, dtype=object)
            for j, (mode, column) in enumerate(zip(self.letters, columns.T, strict=False)):
                name = f"{letter}_{self.index(j)}{suffix}"
                if self.has_directions:
                    along = np.array(_DIRECTIONS[mode][half])
                    formulas[:, j] = along * self._number(name, along @ column)
                else:
                    formulas[:, j] = [self._number(f"{name}{x}", value) for x, value in zip(AXES, column, strict=True)]
            return self._matrix(self.frame[:3, :3] @ formulas)

        return replace(
            motion,
            origin=self._matrix(self.frame[:3, :3] @ origin + self.frame[:3, 3:]),
            translation=moved("u", motion.translation, 0),
            rotation=moved("theta", motion.rotation, 1),
            shortening=self._shortening(f"s_{{}}{suffix}", motion.shortening),
            beam=self._matrix(self.frame[:3, :1]),
        )

    def _number(self, name: str, value: float) -> sympy.Expr:
        return self.constants.number(name, float(value))

    def _matrix(self, entries: Entries) -> ca.SX:
        return self.constants.matrix([[sympy.sympify(x) for x in row] for row in entries.tolist()])

    def _shortening(self, name: str, numbers: Array) -> Any:
        """A symmetric matrix of modes; numbers if it is zero."""
        entries = [[(self.index(min(j, k), max(j, k)), x) for k, x in enumerate(r)] for j, r in enumerate(numbers)]
        named = ([self._number(name.format(index), x) for index, x in row] for row in entries)
        return self.constants.matrix(list(named)) if numbers.any() else numbers

    def _in_link(self, rigid: Entries, first: Entries, second: dict[tuple[int, int], Entries]) -> ModalInertia:
        """The integrals in the link frame, of those in the clamped frame; C_jk of j ≤ k."""

        def placed(entries: Entries) -> ca.SX:
            return self._matrix(self.frame @ entries @ self.frame.T)

        upper = {pair: placed(entries) for pair, entries in second.items()}
        names = (f"s{b}_{{}}" for b in itertools.count(1))
        shortening = tuple(self._shortening(name, s) for name, s in zip(names, self.in_link.shortening, strict=False))
        none: Any = np.zeros((0, self.in_link.modes, self.in_link.modes))
        integrals: dict[str, Any] = {
            "rigid": placed(rigid),
            "first": tuple(map(placed, first)),
            "second": upper | {(k, j): x.T for (j, k), x in upper.items()},
            "shortening": shortening or none,
        }
        return ModalInertia(**integrals, stiffness=np.zeros(none.shape[1:]))

    def _uniform(self) -> tuple[Entries, Entries, dict[tuple[int, int], Entries]] | None:
        """C, C_j and C_jk (j ≤ k) of a uniform beam; ``None`` if the numbers are not those of one."""
        rigid, first, second, i = self.numbers.rigid, self.numbers.first, self.numbers.second, self.i
        mu, j_z, j_y = (float(rigid[k, k]) / self.length for k in (3, 1, 2))
        if self.beam is not None and not any(map(callable, (self.beam.mass_per_length, *self.beam.section_inertia))):
            mu, (j_y, j_z) = self.beam.mass_per_length, self.beam.section_inertia  # type: ignore[assignment]
        moves, turns = (np.array([_DIRECTIONS[x][half] for x in self.letters]) for half in (0, 1))
        skews, section = np.cross(np.eye(3, dtype=int), turns[:, None, :]), np.diag([0.0, j_z, j_y])

        def part(x: Array, along: Array) -> float:
            """The factor of a matrix in another."""
            return float(np.sum(x * along) / np.sum(along * along)) if along.any() else 0.0

        values = {f"mu_{i}": mu, f"l_{i}": self.length, f"j_{i}y": j_y, f"j_{i}z": j_z}
        for j in range(len(moves)):
            values[f"P_{self.index(j)}"], values[f"H_{self.index(j)}"] = first[j, [3, 0], :3] @ moves[j] / mu
            values[f"T_{self.index(j)}"] = part(first[j, :3, :3], section @ skews[j].T)
            for k in range(j, len(moves)):
                values[f"C_{self.index(j, k)}"] = moves[j] @ second[j, k, :3, :3] @ moves[k] / mu
                values[f"S_{self.index(j, k)}"] = part(second[j, k, :3, :3], skews[j] @ section @ skews[k].T)
        c, c_j, c_jk = self._of_uniform_beam(moves, skews, values.__getitem__)
        pairs = [(c, rigid), *zip(c_j, first, strict=True), *((x, second[pair]) for pair, x in c_jk.items())]
        if any(np.abs(a.astype(float) - b).max() > _ROUNDING * np.abs(b).max(initial=1e-300) for a, b in pairs):
            return None
        return self._of_uniform_beam(moves, skews, lambda name: self._number(name, values[name]))

    def _of_uniform_beam(
        self, moves: Array, skews: Array, value: Callable[[str], Any]
    ) -> tuple[Entries, Entries, dict[tuple[int, int], Entries]]:
        """C, C_j and C_jk, in numbers or symbols."""
        n, (mu, length, j_y, j_z) = (
            range(len(moves)),
            (value(x.format(self.i)) for x in ("mu_{}", "l_{}", "j_{}y", "j_{}z")),
        )
        c, first, second = np.diag([mu * length**3 / 3, j_z * length, j_y * length, mu * length]).astype(object), [], {}
        c[0, 3] = c[3, 0] = mu * length**2 / 2
        section = np.diag(np.array([0, j_z, j_y], dtype=object))
        for j in n:
            lines = [mu * value(f"H_{self.index(j)}"), 0, 0, mu * value(f"P_{self.index(j)}")]
            c_j = np.outer(np.array(lines, dtype=object), [*moves[j], 0])
            c_j[:3, :3] += section @ skews[j].T * value(f"T_{self.index(j)}")
            first.append(c_j)
            for k in range(j, len(moves)):
                second[j, k] = (
                    mu * value(f"C_{self.index(j, k)}") * np.outer([*moves[j], 0], [*moves[k], 0]).astype(object)
                )
                second[j, k][:3, :3] += skews[j] @ section @ skews[k].T * value(f"S_{self.index(j, k)}")
        return c, np.array(first, dtype=object), second

    def _moments(self) -> tuple[Entries, Entries, dict[tuple[int, int], Entries]]:
        """C_j and C_jk (j ≤ k) of any link, a symbol for each entry; C is part of the body of its joint."""
        first, second, n = np.zeros((self.numbers.shapes, 4, 4), dtype=object), {}, range(self.numbers.shapes)
        for j, a, b in itertools.product(n, range(4), range(3)):
            name = f"P_{self.index(j)}" if a == 3 else f"H_{self.index(j)}{AXES[a]}"
            first[j, a, b] = self._number(f"{name}{AXES[b]}", self.numbers.first[j, a, b])
        for j, k in itertools.combinations_with_replacement(n, 2):
            second[j, k] = np.zeros((4, 4), dtype=object)
            for a, b in itertools.product(range(3), repeat=2):
                axes = "".join(AXES[x] for x in (sorted((a, b)) if j == k else (a, b)))
                second[j, k][a, b] = self._number(f"C_{self.index(j, k)}{axes}", self.numbers.second[j, k, a, b])
        return np.zeros((4, 4), dtype=object), first, second
