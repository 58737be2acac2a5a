"""Dynamics of some of a robot's terms, with a bound on what the others would have added to the torques.

Terms are chosen in two ways: greedily under a bound, and by the recipe of RSD-TR-8-82.
"""

from __future__ import annotations

import itertools
import numbers
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self, Unpack

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics, Options
from gdalembert.dynamics.generalized_dalembert import place, rotational_mass_matrix
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.dynamics.simplified import series
from gdalembert.dynamics.simplified.series import Expansion, Lagrangian, SeriesTerm
from gdalembert.dynamics.simplified.variation import Variation
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.limits import Ranges, limits_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import SEEDS, flag, integer, listed
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import BatchFunction, function
from gdalembert.spatial.instructions import count
from gdalembert.spatial.progress import progress as show_progress

_ROUNDING = 1e-11  # of the largest torque
_BATCH = 10_000  # states at once
_CONFIGURATIONS = 2000  # at which M is looked at where nothing is guaranteed


@dataclass(frozen=True, eq=False)
class BoundCheck(Brief):
    """Torque errors at random states.

    Attributes:
        names: of the entries of v. ``samples``: number of states.
        bound: guaranteed largest error [N m or N].
        observed: largest error found. ``rms``: its root mean square.
        rms_tau, largest_tau: root mean square and largest of the exact torque.
        tau_max: the limits of the torques.
    """

    names: tuple[str, ...]
    samples: int
    bound: Array
    observed: Array
    rms: Array
    rms_tau: Array
    largest_tau: Array
    tau_max: Array

    @property
    def ok(self) -> bool:
        """True if no error is above the bound, but for rounding."""
        return bool(np.all(self.observed <= self.bound + _ROUNDING * np.max(self.largest_tau)))

    def __str__(self) -> str:
        lines = [f"{self.samples} random states: the bound {'holds' if self.ok else 'IS EXCEEDED'}"]
        width = max(len(name) for name in self.names)
        for k, name in enumerate(self.names):
            part = f"{self.rms[k] / self.rms_tau[k]:.2%}" if self.rms_tau[k] else "–"
            lines.append(
                f"  {name:{width}}  error at most {self.observed[k]:.3g} ({self.observed[k] / self.tau_max[k]:.2%} of "
                f"the limit), bound {self.bound[k]:.3g} ({self.bound[k] / self.tau_max[k]:.2%}); "
                f"RMS error {part} of RMS tau"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Definiteness(Brief):
    """Share of the exact mass matrix that is left in the direction that has lost the most.

    Attributes:
        guaranteed: whether that holds in every configuration.
        least: the least eigenvalue of M⁻¹ exact times M: a lower bound of it, or the least that was found.
        configurations: how many were looked at, 0 if it is guaranteed.
    """

    guaranteed: bool
    least: float
    configurations: int

    def __str__(self) -> str:
        if self.guaranteed:
            return f"M is positive definite everywhere: at least {self.least:.3g} times the exact M"
        was = "was" if self.least > 0 else "was not"
        return (
            f"M {was} positive definite in {self.configurations} random configurations, at least {self.least:.3g} "
            "times the exact M; the armature is too small to guarantee it everywhere"
        )


class SimplifiedOptions(Options, total=False):
    """The arguments that every :class:`SimplifiedDynamics` takes beside its model and ``a_max``."""

    v_max: npt.ArrayLike | None
    tau_max: npt.ArrayLike | None
    q_range: Ranges | None
    progress: bool


class SimplifiedDynamics(Dynamics):
    """Dynamics of some terms of D and V, with a bound on the torques of the terms left out.

    The bound holds for |v| ≤ v_max, |a| ≤ a_max, any angles and all distances within their range. Armature, motors and
    force elements are exact. Everything of :class:`~gdalembert.Dynamics` is there and belongs to the same Lagrangian:
    M is symmetric, dM/dt − 2 C skew, g the gradient of the potential energy, and energy is conserved.

    Terms are chosen by the numbers p₀ of the robot, and what parameters p change is added to them exactly (ours):

        D(q, p) = D_kept(q) + D_exact(q, p) − D_exact(q, p₀),    V likewise

    so that D_exact − D, V_exact − V and the error of the torques do not depend on p: the bound holds at every p.
    :mod:`gdalembert.dynamics.simplified.variation` says which bodies are in the difference.

    Args:
        model, a_max, v_max, tau_max, q_range, progress, options: as of :class:`~gdalembert.PrunedDynamics`.

    Attributes:
        kept, dropped: the terms that are in the model, and those of its difference from the exact one.
        limits: what the bound is over.
    """

    _exact: Dynamics  # with the numbers by which terms are chosen
    _recipe: Mapping[str, Any]  # the arguments of the subclass

    def __init__(
        self,
        model: pin.Model | Tree | Dynamics,
        *,
        a_max: npt.ArrayLike,
        v_max: npt.ArrayLike | None = None,
        tau_max: npt.ArrayLike | None = None,
        q_range: Ranges | None = None,
        progress: bool = False,
        **options: Unpack[Options],
    ) -> None:
        shows = flag(f"{type(self).__name__}: progress", progress)
        self._source = model if isinstance(model, Dynamics) else None
        if isinstance(model, Dynamics):
            self._take(model, options)
            exact, model = model, self.nominal
        else:
            super().__init__(model, **options)
            exact = None
        if not self.nominal.is_numeric:
            raise UnsupportedError(
                f"{self.tree.name}: its constants are formulas of symbols without values, and terms are chosen by "
                "numbers; give numbers, and parameters for what varies, or take NewtonEuler"
            )
        if exact is None:
            exact = NewtonEuler(self._given, **(options | Options(wrenches=None)))
        self._exact = exact.at().under()
        tree = self._exact.tree
        joints = series.joints_of(tree)
        self.limits = limits_of(model, tree, joints, tau_max=tau_max, v_max=v_max, a_max=a_max, q_range=q_range)
        # the entries of q that the torques depend on
        q = ca.SX.sym("q", tree.nq)
        mass_matrix, gravity = self._exact.mass_matrix_expression(q), self._exact.generalized_gravity_expression(q)
        relevant = set(ca.jacobian_sparsity(ca.vertcat(ca.vec(mass_matrix), gravity), q).get_col())
        self._coordinates = series.coordinates_of(tree, joints, self.limits, relevant)
        with show_progress(f"{tree.name}: choice of terms", shown=shows):
            kept, dropped = self._choose()
            self.kept, self.dropped = tuple(kept), tuple(dropped)
            self._lagrangian = Lagrangian(self._coordinates, self.kept)
            self._require_definite()

    def _require_definite(self) -> None:
        if self.definiteness.least <= 1e-9:  # rounding of M and of what is left of it
            raise ArgumentError(
                f"{self.tree.name}: without {len(self.dropped)} terms M is not positive definite everywhere: "
                f"in some direction {self.definiteness.least:.3g} of the exact M is left; allow a smaller error"
            )

    def at(self, p: Values = None) -> Self:
        """A copy with numbers in place of p, as :meth:`~gdalembert.Dynamics.at`; M is looked at once more.

        Raises:
            ArgumentError: also if M is not positive definite in some configuration with these numbers. The Functions
                of p themselves cannot tell.
        """
        robot = super().at(p)
        if p is not None:
            robot._require_definite()
        return robot

    def _take(self, exact: Dynamics, options: Options) -> None:
        """Take the robot of other dynamics, with its force elements, actuators, parameters and wrenches."""
        if options:
            raise ArgumentError(
                f"{type(self).__name__}: {exact.tree.name} is given with options of its own; give it none beside them"
            )
        self._given, self.clean, self.changes = exact._given, exact.clean, exact.changes
        self.nominal = exact.nominal
        self._set_up(options, ())
        self.parameters, self.tree, self.forces, self.nominal = (
            exact.parameters,
            exact.tree,
            exact.forces,
            exact.nominal,
        )
        self.wrenches, self.external_wrenches = exact.wrenches, exact.external_wrenches
        self.actuators = exact.actuators

    @property
    def modes(self) -> range:
        return self._exact.modes

    @property
    def driven_names(self) -> tuple[str, ...]:
        return self._exact.driven_names

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is not None:
            return self._origin
        limits = self.limits
        ranges = {"tau_max": limits.tau, "v_max": limits.v, "a_max": limits.a, "q_range": (limits.lower, limits.upper)}
        arguments = {**self._recipe, **ranges, **({} if self._source else self._arguments)}
        return partial(type(self), **arguments), (self._source or self._given,)

    @abstractmethod
    def _choose(self) -> tuple[list[SeriesTerm], list[SeriesTerm]]:
        """The terms to keep, and those of what the exact D and V have besides."""

    @cached_property
    def contributions(self) -> Array:
        """The most that each dropped term adds to each torque (terms × nv) [N m or N]."""
        return frozen(self._contributions(self.dropped))

    @cached_property
    def bound(self) -> Array:
        """The most by which each torque differs from the exact one (nv) [N m or N], rounding apart; at every p."""
        return frozen(self.contributions.sum(axis=0))

    @property
    def cost(self) -> dict[str, int]:
        """Instructions, multiplications and additions of ``inverse_dynamics``."""
        return count(self.inverse_dynamics)

    @cached_property
    def definiteness(self) -> Definiteness:
        """Share of the exact M that is left in every direction, and whether that is guaranteed.

        The dropped terms E = M exact − M have |E_ij| ≤ B_ij, the sums of their largest values. If the largest
        eigenvalue λ of I_act^−½ B I_act^−½ is below 1 (Weyl), E ≤ λ I_act ≤ λ M exact, so that M ≥ (1 − λ) M exact.
        Else, and without armature, nothing is guaranteed and M is looked at in random configurations.

        All of that is with the numbers of the model; that of ``at(p)`` is with p. E is the same at every p: where the
        armature is no parameter, and links have the inertia of bodies, what is guaranteed is so at every p.
        """
        terms = [(term.entry, term) for term in self.dropped if term.entry is not None]
        b = np.zeros((self.tree.nv, self.tree.nv))
        for (i, j), term in terms:
            b[i, j] += series.largest(self._coordinates, term)
        b = np.triu(b) + np.triu(b, 1).T
        relevant = np.flatnonzero(b.any(axis=0))
        armature = self.nominal.armature[relevant]
        if np.all(armature > 0):
            share = b[np.ix_(relevant, relevant)] / np.sqrt(np.outer(armature, armature))
            part = float(np.linalg.eigvalsh(share).max(initial=0))
            if part < 1:
                return Definiteness(True, 1 - part, 0)
        x = self._random(_CONFIGURATIONS)
        lost = np.zeros((_CONFIGURATIONS, *b.shape))
        for (i, j), term in terms:
            lost[:, i, j] += series.evaluate([term], x)
        lost = np.triu(lost) + np.triu(lost, 1).transpose(0, 2, 1)
        q = self._coordinates.evaluate(self._coordinates.q, x).T
        exact = BatchFunction(self.at().mass_matrix, *b.shape)(q) + lost
        try:
            root = np.linalg.inv(np.linalg.cholesky(exact))
        except np.linalg.LinAlgError:
            raise ArgumentError(
                f"{self.tree.name}: the exact M is not positive definite in some configuration; give each link the "
                "inertia of a body, or armature"
            ) from None
        part = float(np.linalg.eigvalsh(root @ lost @ root.transpose(0, 2, 1)).max())
        return Definiteness(False, 1 - part, _CONFIGURATIONS)

    def check(self, samples: int = 10_000, seed: int = 0, *, corners: bool = False, p: Values = None) -> BoundCheck:
        """Torque errors at random states within the limits, beside the bound.

        Args:
            samples: number of states. Angles are drawn from the whole turn, distances from their range, v and a from
                [−v_max, v_max] and [−a_max, a_max], all evenly.
            seed: of the random generator.
            corners: draw each v and a from ±v_max and ±a_max alone, where errors are larger.
            p: values of the parameters, all or some by name, by default those of the model; the errors are the same,
                but for rounding, at every p. Wrenches that are an input are zero.

        Raises:
            ArgumentTypeError: if samples or seed is no integer, corners no flag, or p does not consist of numbers.
            ArgumentError: if there are no samples, or p has another length or is not finite.
            UnknownNameError: if p names what is no parameter.
        """
        integer("check: samples", samples, 1)
        rng, nv = np.random.default_rng(integer("check: seed", seed, 0, SEEDS)), self.tree.nv
        corners = flag("check: corners", corners)
        p_columns = self._values_of("check", p)
        robot = self.under()
        exact, simplified = (BatchFunction(dynamics.inverse_dynamics, nv) for dynamics in (robot._exact_at_p, robot))
        largest, largest_tau, squares, squares_tau = np.zeros((4, nv))
        for done in range(0, samples, _BATCH):
            n = min(_BATCH, samples - done)
            x, v, a = rng.uniform(-1, 1, size=(3, n, nv))
            if corners:
                v, a = np.sign(v), np.sign(a)
            q = self._coordinates.evaluate(self._coordinates.q, x * self._coordinates.half).T
            state = q, v * self.limits.v, a * self.limits.a, *(np.tile(values, (n, 1)) for values in p_columns)
            tau = exact(*state)
            error = np.abs(simplified(*state) - tau)
            largest = np.maximum(largest, error.max(axis=0))
            largest_tau = np.maximum(largest_tau, np.abs(tau).max(axis=0))
            squares += (error**2).sum(axis=0)
            squares_tau += (tau**2).sum(axis=0)
        rms, rms_tau = np.sqrt(squares / samples), np.sqrt(squares_tau / samples)
        names, tau_max = self.tree.velocity_names, self.limits.tau
        return BoundCheck(names, samples, self.bound, largest, rms, rms_tau, largest_tau, tau_max)

    @cached_property
    def terms(self) -> ca.Function:
        """(q) → (D, G, I_act): the kept terms of the mass matrix and of gravity; armature is in I_act alone.

        (q, p) → (D, G, I_act) with parameters: what they change is in all three.
        """
        s = self.symbols("q")
        d, g = self.mass_matrix_expression(s["q"]), self.generalized_gravity_expression(s["q"])
        return function("terms", s, {"D": d, "G": g, "I_act": self._armature})

    @cached_property
    def change_in_tau(self) -> float:
        """Change of the exact tau by cleaning: :attr:`~gdalembert.dynamics.dynamics.Dynamics.change_in_tau`."""
        return self._exact.change_in_tau

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        changes = (factor * robot.inverse_dynamics_expression(q, v, a) for factor, robot in self._changed)
        weights = (robot.generalized_gravity_expression(q) for robot, _ in self._weighed)
        kept = self._lagrangian.inverse_dynamics(q, v, a)
        return sum((*changes, *weights), kept) + self.wrench_torque_expression(q, wrenches)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        changes = (factor * robot.mass_matrix_expression(q) for factor, robot in self._changed)
        return sum(changes, self._lagrangian.mass_matrix(q))

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        changes = (factor * robot.coriolis_matrix_expression(q, v) for factor, robot in self._changed)
        return sum(changes, self._lagrangian.coriolis_matrix(q, v))

    def gravitational_energy_expression(self, q: Matrix) -> Matrix:
        changes = (factor * robot.gravitational_energy_expression(q) for factor, robot in self._changed)
        weights = (robot.gravitational_energy_expression(q) + constant for robot, constant in self._weighed)
        return sum((*changes, *weights), self._lagrangian.potential(q))

    @cached_property
    def _variation(self) -> Variation:
        """The change of the kept terms from the numbers by which they were chosen to those of the tree."""
        return Variation.of(self.tree, self._exact.tree, self.parameters)

    @cached_property
    def _changed(self) -> tuple[tuple[float, Dynamics], ...]:
        """Robots whose dynamics are added to the kept terms, each with its sign."""
        signs = ((1.0, self._variation.added), (-1.0, self._variation.removed))
        return tuple((sign, self._robot_of(tree)) for sign, tree in signs if tree is not None)

    @cached_property
    def _weighed(self) -> tuple[tuple[Dynamics, Matrix], ...]:
        """Robots whose weight is added to the kept terms, and what is added to their energy."""
        return tuple((self._robot_of(tree), constant) for tree, constant in self._variation.weighed)

    @cached_property
    def _exact_at_p(self) -> Dynamics:
        """The exact dynamics with the parameters, force elements and wrenches of this robot."""
        robot = self._exact._on(self.tree)
        robot.parameters, robot.forces = self.parameters, self.forces
        robot.external_wrenches = self.external_wrenches
        return robot

    def _robot_of(self, tree: Tree) -> Dynamics:
        """The exact dynamics of a tree whose symbols are the parameters; of rigid links by the smallest graph."""
        exact = self._exact if self._exact.tree.modal else NewtonEuler(self._exact.nominal, clean=0)
        robot = exact._on(tree)
        robot.parameters = self.parameters
        return robot

    def _expand(self, *matrices: Matrix) -> list[list[SeriesTerm]]:
        """The terms of each of the matrices (nv × nv, symmetric, D their sum) at the q of x, and last those of V."""
        nv, q = self.tree.nv, self._coordinates.q
        v = ca.SX(self._exact.gravitational_energy_expression(q))
        sampled = ca.SX(ca.vertcat(ca.diag(self._exact.mass_matrix_expression(q)), v))
        scale = np.abs(self._coordinates.evaluate(sampled, self._random(200))).max(axis=1)
        entries = [(i, j) for i in range(nv) for j in range(i, nv)]
        size = np.sqrt(np.outer(scale[:nv], scale[:nv]))
        rows = [Expansion((i, j), ca.SX(d[i, j]), float(size[i, j])) for d in matrices for i, j in entries]
        terms = series.expand(self._coordinates, [*rows, Expansion(None, v, float(scale[nv]))])
        cuts = [*range(0, len(rows), len(entries)), len(rows), len(rows) + 1]
        return [list(itertools.chain(*terms[k:end])) for k, end in itertools.pairwise(cuts)]

    def _contributions(self, terms: Sequence[SeriesTerm]) -> Array:
        """The most that each term adds to each torque (terms × nv): under friction that grows with the load 1 + load
        times what it adds to the transmitted one, and twice that where the load is a parameter."""
        loads = (force.load(ca.DM(self.limits.v)) for force in self.forces)
        total = ca.SX(sum((load for load in loads if load is not None), ca.DM(self.tree.nv, 1)))
        parts = [abs(float(x)) if x.is_constant() else 1.0 for x in ca.vertsplit(total)]
        return np.asarray(series.contributions(self._coordinates, self.limits, terms) * (1 + np.array(parts)))

    def _random(self, n: int) -> Array:
        """Random coordinates x (n × nv) within their ranges."""
        return np.random.default_rng(0).uniform(-1, 1, size=(n, self.tree.nv)) * self._coordinates.half


class PrunedDynamics(SimplifiedDynamics):
    """The terms that matter: those without which some torque could be wrong by more than ``error`` times its limit.

    D and V are expanded exactly. Their terms are left out greedily, the least first, as long as the sums of what they
    can add to each torque stay within error · tau_max. Constants stay: those on the diagonal of D cost almost nothing
    and keep M positive definite; that of V makes no torque.

    Args:
        model: a ``pin.Model`` of revolute, continuous and prismatic joints, mimic joints included; or a ``Tree``,
            which has no limits of its own; or a :class:`~gdalembert.FirstOrderArm` with all its options, for which
            every limit has nv numbers, or one.
        error: the error that is allowed, relative to tau_max, in [0, 1); 0 keeps all terms.
        a_max: largest |a| [rad/s² or m/s²], nv numbers or one.
        v_max: largest |v| [rad/s or m/s], nv numbers or one; by default ``model.velocityLimit``.
        tau_max: largest torque [N m or N], nv numbers or one; ``error`` is relative to it; by default
            ``model.effortLimit``.
        q_range: (lower, upper) of the distances [m], nv numbers each or one, ignored for angles; by default the
            model's position limits.
        progress: show on stderr that terms are chosen, which takes seconds for seven joints.
        clean, springs, friction, forces, actuation, motors, wrenches: as of :class:`~gdalembert.Dynamics`, all exact;
            ``clean`` is at most 1e-6.
        parameters: as of :class:`~gdalembert.Dynamics`, all kinds. Terms are chosen by the numbers of the robot; what
            parameters change is exact, and ``bound`` holds at every p.

    Raises:
        ArgumentTypeError: if ``error`` is not a number.
        UnsupportedError: for other joint types, and if an entry of D depends on too many joints
            (:data:`~gdalembert.dynamics.simplified.series.MOST_POINTS`).
        ArgumentError: if ``error`` is outside [0, 1), if a limit is missing, infinite or not positive, or if M is not
            positive definite in some configuration.
    """

    def __init__(
        self,
        model: pin.Model | Tree | Dynamics,
        error: float,
        *,
        a_max: npt.ArrayLike,
        **options: Unpack[SimplifiedOptions],
    ) -> None:
        wanted = f"error={shown(error)}: give a number from 0 to below 1, 0.01 for a hundredth of tau_max"
        if isinstance(error, bool) or not isinstance(error, numbers.Real):
            raise ArgumentTypeError(wanted)
        if not 0 <= error < 1:
            raise ArgumentError(wanted)
        self.error: float = float(error)
        self._recipe = {"error": self.error}
        super().__init__(model, a_max=a_max, **options)

    def _choose(self) -> tuple[list[SeriesTerm], list[SeriesTerm]]:
        inertia, energy = self._expand(self._exact.mass_matrix_expression(self._coordinates.q))
        terms = [*inertia, *energy]
        candidates = [term for term in terms if not term.is_free]
        effects = self._contributions(candidates)
        drop = series.droppable(effects, self.error * self.limits.tau)
        dropped = [term for term, goes in zip(candidates, drop, strict=True) if goes]
        gone = set(dropped)
        return [term for term in terms if term not in gone], dropped


class TranslationalRotational(SimplifiedDynamics):
    """The recipe of RSD-TR-8-82, section 3: only translation for the joints of the arm, only rotation for the wrist.

    D_ij is D^tra_ij between joints of the arm and D^rot_ij where one of the joints is of the wrist; gravity is exact.
    Velocity terms follow from this D. ``bound`` and :meth:`check` give the error, which is large for a PUMA 560.

    Args:
        model, a_max, v_max, tau_max, q_range, progress: as of :class:`PrunedDynamics`.
        wrist: names of the joints of the wrist; by default all but the first three.
        clean, springs, friction, forces, actuation, motors, parameters, wrenches: as of :class:`PrunedDynamics`.

    Raises:
        ArgumentTypeError: if ``wrist`` is not a list of names.
        UnknownNameError: if a name is not that of a joint.
        UnsupportedError, ArgumentError: as of :class:`PrunedDynamics`.
    """

    def __init__(
        self,
        model: pin.Model | Tree | Dynamics,
        wrist: Sequence[str] | None = None,
        *,
        a_max: npt.ArrayLike,
        **options: Unpack[SimplifiedOptions],
    ) -> None:
        names = () if wrist is None else listed(wrist)
        if names is None or not all(isinstance(x, str) for x in names):
            raise ArgumentTypeError(f"wrist={shown(wrist)}: give a list of names")
        self._wrist: tuple[str, ...] | None = None if wrist is None else tuple(names)
        self._recipe = {"wrist": self._wrist}
        super().__init__(model, a_max=a_max, **options)

    @property
    def wrist(self) -> tuple[str, ...]:
        """Names of the joints of the wrist."""
        names = self.tree.velocity_names
        for name in self._wrist or ():
            if name not in names:
                raise UnknownNameError("joint", name, names)
        return names[3:] if self._wrist is None else self._wrist

    def _choose(self) -> tuple[list[SeriesTerm], list[SeriesTerm]]:
        self.tree.require_rigid_links("TranslationalRotational takes them for rigid; take PrunedDynamics")
        rotational = np.isin(self.tree.velocity_names, self.wrist)
        mask = np.array(rotational[:, None] | rotational[None, :], dtype=float)
        rot = rotational_mass_matrix(self._exact.nominal, place(self._exact.nominal, self._coordinates.q))
        tra = self._exact.mass_matrix_expression(self._coordinates.q) - rot
        kept, dropped, energy = self._expand(mask * rot + (1 - mask) * tra, mask * tra + (1 - mask) * rot)
        return [*kept, *energy], dropped
