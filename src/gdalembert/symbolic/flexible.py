"""Flexible arms in formulas: integrals over the modes of each link, stiffness and damping of links and joints.

In the clamped frame of link i, x along it, mode j moves the centre line by φ_ij in one direction, and turns its sections
by ψ_ij about another: φ′ about z (bending in y), −φ′ about y (bending in z), or by the twist about x. A uniform beam of
length l_i and mass per length mu_i, with the section inertias j_iy and j_iz, has the integrals over η from 0 to l_i

    P_ij = ∫ φ_ij dη   H_ij = ∫ η φ_ij dη   C_ijk = ∫ φ_ij φ_ik dη   T_ij = ∫ ψ_ij dη   S_ijk = ∫ ψ_ij ψ_ik dη

and the stiffness EI_iz B_ijk (bending in y), EI_iy B_ijk (in z), EA_i B_ijk or GJ_i B_ijk, B_ijk = ∫ ε_ij ε_ik dη of
curvatures, strains or twists ε. Of any other link (a tapered beam, ``Nodes``) P_ijb = ∫ φ_ijb dm, H_ijab = ∫ r_a φ_ijb
dm, C_ijkab = ∫ φ_ija φ_ikb dm and K_ijk, moments of its mass and its stiffness, stand for themselves; so does K_ijk where
the arm does not know its beams (``arm.links`` is None). The tip moves by u_ij and turns by theta_ij; station n ≥ 1 has
u_ijsn, theta_ijsn. The bodies on the tip have m_it, c_itx …, those on station n have m_isn ….

The equations are those of Book's recursion (:mod:`gdalembert.flexible.reference.book_1984`), which needs no property
of the numbers; nothing is derived a second time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
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
from gdalembert.spatial.functions import function
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

    Its Functions and ``terms`` are those of the arm, by the recursion of 4 × 4 matrices (Book 1984); :attr:`stiffness`
    and :attr:`damping` are matrices in the symbols.

    Args:
        tree: a :class:`~gdalembert.symbolic.SymbolicTree` of an arm.
        forces: force elements, in place of those of the arm.
    """

    def __init__(self, tree: SymbolicTree, **options: Unpack[Options]) -> None:
        if not isinstance(tree, SymbolicTree) or tree.arm is None:
            raise ArgumentTypeError(f"SymbolicArm: got {tree!r}; give gdalembert.symbolic.symbolic_tree(arm)")
        Dynamics.__init__(self, tree.arm.rigid, clean=0)
        self._symbolic, self.links, self.represents = tree, None, tree.arm.kind
        told = {name: value for name, value in options.items() if value is not None}
        self._set_elements(tree, tree.arm.flexibility, Options(**(tree.arm.options | told)))  # type: ignore[typeddict-item]

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin or (partial(SymbolicArm, self._symbolic, forces=self._options.get("forces")), ())

    @cached_property
    def stiffness(self) -> ca.Function:
        """() → (K), nv × nv: the stiffness of modes, flexible joints and springs in directions."""
        return self._constant("stiffness", "K", Stiffness)

    @cached_property
    def damping(self) -> ca.Function:
        """() → (D_d), nv × nv: the damping of modes, flexible joints and springs in directions."""
        return self._constant("damping", "D_d", ModalDamping)

    def _constant(self, name: str, output: str, kind: type[Stiffness] | type[ModalDamping]) -> ca.Function:
        matrix = next(force.matrix for force in self.forces if isinstance(force, kind))
        return function(name, self.symbols(), {output: ca.SX(matrix)})


class ArmFormulas:
    """The formulas of an arm that a robot with rigid links and joints does not have.

    Attributes:
        tree: the arm in numbers.
        numbers: the number of each joint of the tree in the names of symbols; of stations, that of their link and
            ``t`` or ``s1``, ``s2``, …

    Raises:
        UnsupportedError: if a link is a Cosserat rod.
    """

    def __init__(self, arm: Arm, constants: Constants) -> None:
        for name in arm.flexibility.rods:
            raise UnsupportedError(
                f"link {name!r}: a Cosserat rod has no closed form: its sections turn by the exponential of its strains; "
                "take a FlexibleLink in a FirstOrderArm, or export the arm as code in numbers"
            )
        self.robot, self.constants = arm.at(), constants
        self.tree = tree = self.robot.nominal
        count, self.numbers = itertools.count(1), dict[int, str]()
        for i, joint in enumerate(tree.joints):
            if not joint.type.is_modal:
                self.numbers[i] = str(next(count))
        most = max([next(count) - 1, *(inertia.shapes for inertia in tree.assumed_modes.values())])
        turning = [k + 1 for joint in tree.joints if not joint.type.is_modal for k in joint.columns]
        apart = "_" if most > 9 or max(turning, default=0) > 10 else ""  # v_11 is mode 1 of link 1, or joint 11
        places = {beam.link: beam for beam in self.robot.flexibility.links.values()}
        self.links: dict[int, LinkFormulas] = {}
        for i, inertia in tree.assumed_modes.items():
            link = None if arm.links is None else arm.links.get(places[i].name)
            frame = next(frame for frame in tree.frames if frame.name == places[i].root)
            beam = link.beam if link is not None and isinstance(link.beam, Beam) else None
            clamped, length = homogeneous(frame.rotation, frame.translation), places[i].length
            names = tree.joints[tree.first_station(i)].type.coordinate_names
            self.links[i] = LinkFormulas(self.numbers[i], names, apart, inertia, clamped, length, beam, constants)
            for k, station in enumerate(tree.stations(i)):
                self.numbers[station] = f"{self.numbers[i]}{f's{k}' if k else 't'}"

    def rigid_part(self, i: int) -> Joint:
        """Joint i with the bodies that are not its uniform beam."""
        joint = self.tree.joints[i]
        return self.links[i].without_beam(joint) if i in self.links else joint

    def completed(self, i: int, joint: Joint) -> Joint:
        """Joint i, which has formulas, with its beam, or with the motion of its section as formulas."""
        if i in self.links and self.links[i].is_uniform:
            beam: Any = self.links[i].matrix(self.links[i].rigid)
            return replace(joint, pseudo_inertia=ca.sparsify(joint.pseudo_inertia + beam))
        if joint.type.is_modal:
            suffix = self.numbers[i].removeprefix(self.numbers[joint.parent]).removeprefix("t")
            return replace(joint, type=self.links[joint.parent].section(joint.type, suffix))
        return joint

    @property
    def modal_inertias(self) -> tuple[tuple[int, ModalInertia], ...]:
        """The integrals of each flexible link."""
        return tuple((i, link.inertia()) for i, link in self.links.items())

    def parts(self) -> ArmParts:
        """The parts of the arm beside its tree."""
        tree, arguments = self.tree, self.robot._arguments
        indices = {
            column: self.links[joint.parent].index(k)
            for joint in tree.joints
            if joint.type.is_modal and joint.parent in self.links
            for k, column in enumerate(joint.columns)
        }
        matrices: dict[str, dict[str, Any]] = {"stiffness": {}, "damping": {}}
        for force in self.robot.forces:
            if isinstance(force, Stiffness | ModalDamping):
                for name, part in force.parts.items():
                    numbers = float(force.factors.get(name, 1.0)) * np.asarray(part)
                    matrices[force.name][name] = self._elastic(name, force.name, numbers)
        flexibility = replace(self.robot.flexibility, **matrices)
        kept = ("springs", "friction", "forces", "actuation", "wrenches")
        options = {name: arguments.get(name) for name in kept if arguments.get(name) is not None}
        return ArmParts(type(self.robot), self.robot.rigid_tree, flexibility, indices, options)

    def _elastic(self, name: str, kind: str, numbers: Array) -> ca.SX:
        """The stiffness or damping (nv × nv) of a flexible link or joint: of springs, k_c or k_c_d of coordinates."""
        flexibility, nv = self.robot.flexibility, self.tree.nv
        formulas = sympy.zeros(nv, nv)
        rotors = {joint.name: joint.idx_v for joint in self.tree.joints if joint.name in flexibility.rotors}
        joint_of = dict(enumerate((rotors[x] for x in flexibility.rotors), nv - len(flexibility.rotors)))
        link = flexibility.links.get(name)
        for row, column in zip(*np.nonzero(numbers), strict=True):
            value = float(numbers[row, column])
            if link is not None:
                pair = int(row) - link.modes.start, int(column) - link.modes.start
                formulas[row, column] = self.links[link.link].elastic(kind, *pair, value)
            else:
                a, b = sorted((joint_of.get(int(row), int(row)) + 1, joint_of.get(int(column), int(column)) + 1))
                sign = 1 if (row in joint_of) == (column in joint_of) else -1
                symbol = f"{'k' if kind == 'stiffness' else 'd'}_{a}" + (f"_{b}" if a != b else "")
                formulas[row, column] = sign * self.constants.number(symbol, sign * value)
        return self.constants.matrix(formulas.tolist())


class LinkFormulas:
    """The constants of a flexible link as formulas.

    Args:
        number: that of the link in the names of symbols. ``apart``: what stands between the indices.
        coordinates: the names of its modal coordinates.
        inertia: its integrals in numbers, in the link frame. ``clamped``: the clamped frame there (4 × 4).
        beam: with its stiffness, if it is known.
    """

    def __init__(
        self,
        number: str,
        coordinates: tuple[str, ...],
        apart: str,
        inertia: ModalInertia,
        clamped: Array,
        length: float,
        beam: Beam | None,
        constants: Constants,
    ) -> None:
        self.number, self.apart, self.length, self.beam, self.constants = number, apart, length, beam, constants
        self.clamped, self.in_link = clamped, inertia
        self.numbers = inertia.placed(np.linalg.inv(clamped))
        stretches = ["x"] * (inertia.shapes - inertia.modes)
        self.letters = [*(name.rpartition(" ")[2][:1] for name in coordinates), *stretches]
        self.has_directions = all(letter in _DIRECTIONS for letter in self.letters)
        named = constants.named if constants.others == "symbols" else constants.angle
        r = rotation_formula(clamped[:3, :3], f"{number}r", named)
        at = [constants.number(f"p_{number}r{x}", value) for x, value in zip(AXES, clamped[:3, 3], strict=True)]
        self.frame: Entries = np.array(homogeneous(np.eye(3), np.zeros(3)), dtype=object)
        self.frame[:3, :3], self.frame[:3, 3] = np.array(r.tolist(), dtype=object), at
        self.rigid: Entries = np.zeros((4, 4), dtype=object)
        self.first, self.second = self._uniform() or self._moments()
        self.is_uniform = bool(self.rigid.any())

    def index(self, *modes: int) -> str:
        """The indices of modes (from 0) behind that of the link."""
        return self.apart.join((self.number, *(str(mode + 1) for mode in modes)))

    def matrix(self, entries: Entries) -> ca.SX:
        """A matrix (4 × 4) of the clamped frame in the link frame, of formulas."""
        placed = self.frame @ entries @ self.frame.T
        return self.constants.matrix([[sympy.sympify(x) for x in row] for row in placed.tolist()])

    def without_beam(self, joint: Joint) -> Joint:
        """The joint with the bodies on it that are not its uniform beam."""
        if not self.is_uniform:
            return joint
        beam = self.in_link.rigid
        rest = drop(joint.pseudo_inertia - beam, _ROUNDING * np.abs(joint.pseudo_inertia).max())
        return replace(joint, pseudo_inertia=rest)

    def inertia(self) -> ModalInertia:
        """The integrals in the link frame."""
        n, placed = self.in_link.modes, {pair: self.matrix(entries) for pair, entries in self.second.items()}
        shortening = tuple(
            self._named_matrix(f"s{b + 1}_{{}}", matrix) for b, matrix in enumerate(self.in_link.shortening)
        )
        integrals: dict[str, Any] = {
            "rigid": self.matrix(self.rigid),
            "first": tuple(map(self.matrix, self.first)),
            "second": placed | {(k, j): x.T for (j, k), x in placed.items()},
            "shortening": shortening or np.zeros((0, n, n)),
        }
        return ModalInertia(**integrals, stiffness=np.zeros((n, n)))

    def elastic(self, kind: str, j: int, k: int, value: float) -> sympy.Expr:
        """An entry of the stiffness or damping of its modes."""
        index = self.index(*sorted((j, k)))
        letter, other = self.letters[j], self.letters[k]
        if kind == "stiffness" and self.beam is not None and letter == other and letter in _STIFFNESS:
            attribute, name = _STIFFNESS[letter]
            modulus = getattr(self.beam, attribute)
            if not callable(modulus):
                number = self.constants.number
                return number(name.format(self.number), modulus) * number(f"B_{index}", value / modulus)
        return self.constants.number(f"{'K' if kind == 'stiffness' else 'D'}_{index}", value)

    def section(self, motion: Any, suffix: str) -> Any:
        """The motion of a station as formulas; those of the tip have no suffix."""
        number, turn = self.constants.number, self.clamped[:3, :3]
        at = turn.T @ (motion.origin - self.clamped[:3, 3])
        names = [f"p_{self.number}{suffix}{x}" for x in AXES]
        if not suffix and abs(at[0] - self.length) <= _ROUNDING * self.length:
            names[0], at[0] = f"l_{self.number}", self.length
        at = drop(at, _ROUNDING * self.length)
        origin = np.array([number(name, float(x)) for name, x in zip(names, at, strict=True)], dtype=object)

        def moved(letter: str, columns: Array, which: int) -> ca.SX:
            columns = drop(turn.T @ columns, _ROUNDING * np.abs(columns).max(initial=0))
            formulas = np.zeros(columns.shape, dtype=object)
            for j, mode in enumerate(self.letters[: columns.shape[1]]):
                name = f"{letter}_{self.index(j)}{suffix}"
                if self.has_directions:
                    along = np.array(_DIRECTIONS[mode][which])
                    formulas[:, j] = along * number(name, float(along @ columns[:, j]))
                else:
                    formulas[:, j] = [number(f"{name}{x}", float(v)) for x, v in zip(AXES, columns[:, j], strict=True)]
            return self._turned(formulas)

        return replace(
            motion,
            origin=self._turned(origin[:, None], self.frame[:3, 3:]),
            translation=moved("u", motion.translation, 0),
            rotation=moved("theta", motion.rotation, 1),
            shortening=self._named_matrix(f"s_{{}}{suffix}", motion.shortening),
            beam=self._turned(np.array([[1], [0], [0]], dtype=object)),
        )

    def _turned(self, columns: Entries, shift: Any = 0) -> Any:
        """Columns (3 × n) of the clamped frame in the axes of the link frame."""
        turned = self.frame[:3, :3] @ columns + shift
        return self.constants.matrix([[sympy.sympify(x) for x in row] for row in turned.tolist()])

    def _named_matrix(self, name: str, numbers: Array) -> Any:
        """A symmetric matrix of modes, numbers if it is zero."""
        if not numbers.any():
            return numbers
        n = range(len(numbers))
        return self.constants.matrix(
            [
                [self.constants.number(name.format(self.index(*sorted((j, k)))), float(numbers[j, k])) for k in n]
                for j in n
            ]
        )

    def _uniform(self) -> tuple[Entries, dict[tuple[int, int], Entries]] | None:
        """C_j and C_jk of a uniform beam; ``None`` if the numbers are not those of one."""
        if not self.has_directions:
            return None
        rigid, first, second, l = self.numbers.rigid, self.numbers.first, self.numbers.second, self.length
        mu, j_z, j_y = (float(rigid[k, k]) / l for k in (3, 1, 2))
        moves, turns = (np.array([_DIRECTIONS[x][half] for x in self.letters]).reshape(-1, 3) for half in (0, 1))
        skews = np.cross(np.eye(3, dtype=int), turns[:, None, :]) if len(turns) else np.zeros((0, 3, 3), dtype=int)
        shapes = range(len(self.letters))
        section = np.diag([0.0, j_z, j_y])

        def part(x: Array, along: Array) -> float:
            """The factor of a matrix in another."""
            return float(np.sum(x * along) / np.sum(along * along)) if along.any() else 0.0

        values: dict[str, float] = {}
        for j in shapes:
            values[f"P_{self.index(j)}"] = float(first[j, 3, :3] @ moves[j]) / mu
            values[f"H_{self.index(j)}"] = float(first[j, 0, :3] @ moves[j]) / mu
            values[f"T_{self.index(j)}"] = part(first[j, :3, :3], section @ skews[j].T)
            for k in range(j, len(shapes)):
                values[f"C_{self.index(j, k)}"] = float(moves[j] @ second[j, k, :3, :3] @ moves[k]) / mu
                values[f"S_{self.index(j, k)}"] = part(second[j, k, :3, :3], skews[j] @ section @ skews[k].T)
        names = {f"mu_{self.number}": mu, f"l_{self.number}": l, f"j_{self.number}y": j_y, f"j_{self.number}z": j_z}
        assemble = partial(self._assembled, moves, skews)
        numbers = assemble((values | names).__getitem__)
        pairs = [(numbers[0], rigid), *zip(numbers[1], first, strict=True)]
        pairs += [(x, second[pair]) for pair, x in numbers[2].items()]
        if any(np.abs(a.astype(float) - b).max() > _ROUNDING * np.abs(b).max(initial=1e-300) for a, b in pairs):
            return None
        known = values | names
        self.rigid, formulas, of_pairs = assemble(lambda name: self.constants.number(name, known[name]))
        return formulas, of_pairs

    def _assembled(
        self, moves: Array, skews: Array, value: Callable[[str], Any]
    ) -> tuple[Entries, Entries, dict[tuple[int, int], Entries]]:
        """C, C_j and C_jk (j ≤ k) of a uniform beam, in numbers or symbols."""
        i, shapes = self.number, range(len(moves))
        mu, l, j_y, j_z = (value(name) for name in (f"mu_{i}", f"l_{i}", f"j_{i}y", f"j_{i}z"))
        third, half = (mu * l**3 / 3, mu * l**2 / 2)
        rigid = np.array([[third, 0, 0, half], [0, j_z * l, 0, 0], [0, 0, j_y * l, 0], [half, 0, 0, mu * l]], object)
        section = np.diag(np.array([0, j_z, j_y], dtype=object))
        first = np.zeros((len(shapes), 4, 4), dtype=object)
        second: dict[tuple[int, int], Entries] = {}
        for j in shapes:
            first[j, 0, :3] += mu * value(f"H_{self.index(j)}") * moves[j]
            first[j, 3, :3] += mu * value(f"P_{self.index(j)}") * moves[j]
            first[j, :3, :3] += section @ skews[j].T * value(f"T_{self.index(j)}")
            for k in range(j, len(shapes)):
                second[j, k] = np.zeros((4, 4), dtype=object)
                second[j, k][:3, :3] += mu * value(f"C_{self.index(j, k)}") * np.outer(moves[j], moves[k])
                second[j, k][:3, :3] += skews[j] @ section @ skews[k].T * value(f"S_{self.index(j, k)}")
        return rigid, first, second

    def _moments(self) -> tuple[Entries, dict[tuple[int, int], Entries]]:
        """C_j and C_jk (j ≤ k) of any link, a symbol for each entry."""
        number, shapes, axes = self.constants.number, range(self.numbers.shapes), range(3)
        first = np.zeros((len(shapes), 4, 4), dtype=object)
        second: dict[tuple[int, int], Entries] = {}
        for j in shapes:
            for b, y in zip(axes, AXES, strict=True):
                first[j, 3, b] = number(f"P_{self.index(j)}{y}", float(self.numbers.first[j, 3, b]))
                for a, x in zip(axes, AXES, strict=True):
                    first[j, a, b] = number(f"H_{self.index(j)}{x}{y}", float(self.numbers.first[j, a, b]))
            for k in range(j, len(shapes)):
                second[j, k] = np.zeros((4, 4), dtype=object)
                for a, b in itertools.product(axes, axes):
                    x, y = (AXES[c] for c in (sorted((a, b)) if j == k else (a, b)))
                    value = float(self.numbers.second[j, k, a, b])
                    second[j, k][a, b] = number(f"C_{self.index(j, k)}{x}{y}", value)
        return first, second
