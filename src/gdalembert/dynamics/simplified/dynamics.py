"""Dynamics of some of a robot's terms, with a bound on what the others would have added to the torques."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Unpack

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics, Options
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.dynamics.simplified.check import BoundCheck, Definiteness, Errors
from gdalembert.dynamics.simplified.limits import Limits, Range, coordinates_of, limits_of
from gdalembert.dynamics.simplified.model import Lagrangian
from gdalembert.dynamics.simplified.pruning import contributions, largest
from gdalembert.dynamics.simplified.series import Entry, Term, evaluate, expand, joints_of
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import function
from gdalembert.spatial.instructions import count

_BATCH = 10_000  # states at once
_CONFIGURATIONS = 2000  # at which M is looked at where nothing is guaranteed


class SimplifiedOptions(Options, total=False):
    """The arguments that every :class:`SimplifiedDynamics` takes beside its model and ``a_max``."""

    v_max: npt.ArrayLike | None
    tau_max: npt.ArrayLike | None
    q_range: Range | None


class SimplifiedDynamics(Dynamics):
    """Dynamics of some terms of D and V, with a bound on the torques of the terms left out.

    The bound holds for |v| ≤ v_max, |a| ≤ a_max, any angles and all distances within their range. Armature and force
    elements are exact. Everything of :class:`~gdalembert.Dynamics` is there and belongs to the same Lagrangian: M is
    symmetric, dM/dt − 2 C skew, g the gradient of the potential energy, and energy is conserved.

    Args:
        model: a ``pin.Model`` of revolute, continuous and prismatic joints, mimic joints included; or a ``Tree``,
            which has no limits of its own.
        a_max: largest |a| [rad/s² or m/s²], nv numbers or one.
        v_max: largest |v| [rad/s or m/s]; by default ``model.velocityLimit``.
        tau_max: largest torque [N m or N], that scales the errors; by default ``model.effortLimit``.
        q_range: (lower, upper) of the distances [m], nv numbers each or one, ignored for angles; by
            default the model's position limits.
        options: ``clean``, ``springs``, ``friction``, ``forces``, ``actuation``, ``wrenches``, ``parameters`` (of
            force elements alone), as of :class:`~gdalembert.Dynamics`.

    Attributes:
        kept, dropped: the terms that are in the model, and those of its difference from the exact one.
        limits: what the bound is over.

    Raises:
        UnsupportedError: for other joint types, for parameters of the robot itself, and if an entry of D depends on
            too many joints (:data:`~gdalembert.dynamics.simplified.series.MOST_POINTS`).
        ArgumentError: if a limit is missing, infinite or not positive, or if M is not positive definite in some
            configuration.
    """

    kept: tuple[Term, ...]
    dropped: tuple[Term, ...]
    limits: Limits

    def __init__(
        self,
        model: pin.Model | Tree,
        *,
        a_max: npt.ArrayLike,
        v_max: npt.ArrayLike | None = None,
        tau_max: npt.ArrayLike | None = None,
        q_range: Range | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(model, **options)
        if not self.tree.is_numeric:
            raise UnsupportedError(
                f"{self.tree.name}: its constants are inputs, and terms are chosen by the numbers of the robot; make "
                "parameters of force elements alone, or take NewtonEuler"
            )
        self._exact = NewtonEuler(self._given, **(options | Options(parameters=None, wrenches=None)))
        joints = joints_of(self.tree)
        self.limits = limits_of(model, self.tree, joints, tau_max=tau_max, v_max=v_max, a_max=a_max, q_range=q_range)
        self._coordinates = coordinates_of(self.tree, joints, self.limits, self._relevant())
        kept, dropped = self._choose()
        self.kept, self.dropped = tuple(kept), tuple(dropped)
        self._lagrangian = Lagrangian(self._coordinates, self.kept)
        if self.definiteness.least <= 1e-9:  # rounding of M and of what is left of it
            raise ArgumentError(
                f"{self.tree.name}: without {len(self.dropped)} terms M is not positive definite everywhere: "
                f"in some direction {self.definiteness.least:.3g} of the exact M is left; allow a smaller error"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        limits = self.limits
        given = {"tau_max": limits.tau, "v_max": limits.v, "a_max": limits.a, "q_range": (limits.lower, limits.upper)}
        own = {**self._recipe, **given, **self._arguments}
        return partial(type(self), **own), (self._given,)

    @property
    @abstractmethod
    def _recipe(self) -> Mapping[str, Any]:
        """The arguments of the subclass."""

    @abstractmethod
    def _choose(self) -> tuple[list[Term], list[Term]]:
        """The terms to keep, and those of what the exact D and V have besides."""

    @cached_property
    def contributions(self) -> Array:
        """The most that each dropped term adds to each torque (terms × nv) [N m or N]."""
        return frozen(contributions(self._coordinates, self.limits, self.dropped))

    @cached_property
    def bound(self) -> Array:
        """The most by which each torque differs from the exact one (nv) [N m or N], rounding apart."""
        return frozen(self.contributions.sum(axis=0))

    @property
    def cost(self) -> dict[str, int]:
        """Instructions, multiplications and additions of ``inverse_dynamics``."""
        return count(self.inverse_dynamics)

    @cached_property
    def definiteness(self) -> Definiteness:
        """How much of the exact M is left in every direction, and whether that is guaranteed.

        The dropped terms E = M exact − M have |E_ij| ≤ B_ij, the sums of their largest values. If the largest
        eigenvalue λ of I_act^−½ B I_act^−½ is below 1 (Weyl), E ≤ λ I_act ≤ λ M exact, so that M ≥ (1 − λ) M exact.
        Else, and without armature, nothing is guaranteed and M is looked at in random configurations.
        """
        terms = [(term.entry, term) for term in self.dropped if term.entry is not None]
        b = np.zeros((self.tree.nv, self.tree.nv))
        for (i, j), term in terms:
            b[i, j] += largest(self._coordinates, term)
        b = np.triu(b) + np.triu(b, 1).T
        relevant = np.flatnonzero(b.any(axis=0))
        armature = self.tree.armature[relevant]
        if np.all(armature > 0):
            share = b[np.ix_(relevant, relevant)] / np.sqrt(np.outer(armature, armature))
            part = float(np.linalg.eigvalsh(share).max(initial=0))
            if part < 1:
                return Definiteness(True, 1 - part, 0)
        x = self._random(_CONFIGURATIONS)
        lost = np.zeros((_CONFIGURATIONS, *b.shape))
        for (i, j), term in terms:
            lost[:, i, j] += evaluate([(term.shape, term.cosine, term.sine)], x)
        lost = np.triu(lost) + np.triu(lost, 1).transpose(0, 2, 1)
        exact = BatchFunction(self._exact.mass_matrix, *b.shape)(self._coordinates.configurations(x))
        root = np.linalg.inv(np.linalg.cholesky(exact))
        part = float(np.linalg.eigvalsh(root @ lost @ root.transpose(0, 2, 1)).max())
        return Definiteness(False, 1 - part, _CONFIGURATIONS)

    def check(self, samples: int = 10_000, seed: int = 0, *, corners: bool = False) -> BoundCheck:
        """Torque errors at random states within the limits, beside the bound.

        Args:
            samples: number of states. Angles are drawn from the whole turn, distances from their range, v and a from
                [−v_max, v_max] and [−a_max, a_max], all evenly.
            seed: of the random generator.
            corners: draw each v and a from ±v_max and ±a_max alone, where errors are larger.

        Raises:
            ArgumentTypeError: if their number is not a whole one.
            ArgumentError: if there are no samples.
        """
        integer("check: samples", samples, 1)
        rng, nv = np.random.default_rng(seed), self.tree.nv
        exact, own = (BatchFunction(dynamics.inverse_dynamics, nv) for dynamics in (self._exact, self))
        errors = Errors(exact, own, nv)
        for done in range(0, samples, _BATCH):
            n = min(_BATCH, samples - done)
            x, v, a = rng.uniform(-1, 1, size=(3, n, nv))
            if corners:
                v, a = np.sign(v), np.sign(a)
            q = self._coordinates.configurations(x * self._coordinates.half)
            errors.add(q, v * self.limits.v, a * self.limits.a)
        return errors.beside(self.bound, self.tree.velocity_names, self.limits.tau)

    @cached_property
    def terms(self) -> ca.Function:
        """(q) → (D, G, I_act): the kept terms of the mass matrix and of gravity; armature is in I_act alone."""
        s = self.symbols("q")
        parts = {
            "D": self.mass_matrix_expression(s["q"]),
            "G": self.generalized_gravity_expression(s["q"]),
            "I_act": self._armature,
        }
        return function("terms", s, parts)

    @cached_property
    def change_in_tau(self) -> float:
        """How much cleaning changes the exact tau: :attr:`~gdalembert.dynamics.dynamics.Dynamics.change_in_tau`."""
        return self._exact.change_in_tau

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return self._lagrangian.inverse_dynamics(q, v, a) + self.wrench_torque_expression(q, wrenches)

    def nle_expression(self, q: Matrix, v: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return self.inverse_dynamics_expression(q, v, ca.DM(self.tree.nv, 1), wrenches)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return self._lagrangian.mass_matrix(q)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return self._lagrangian.coriolis_matrix(q, v)

    def gravitational_energy_expression(self, q: Matrix) -> Matrix:
        return self._lagrangian.potential(q)

    def _relevant(self) -> set[int]:
        """The entries of q that the torques depend on."""
        q = ca.SX.sym("q", self.tree.nq)
        mass_matrix, gravity = self._exact.mass_matrix_expression(q), self._exact.generalized_gravity_expression(q)
        return set(ca.jacobian_sparsity(ca.vertcat(ca.vec(mass_matrix), gravity), q).get_col())

    def _expand(self, matrices: Callable[[Matrix], Sequence[Matrix]]) -> list[list[Term]]:
        """The terms of each of the matrices (nv × nv, symmetric, D their sum), and last those of V."""
        nv = self.tree.nv
        x = ca.SX.sym("x", nv)
        q = self._coordinates.configuration(x)
        v = ca.SX(super().gravitational_energy_expression(q))
        sampled = ca.SX(ca.vertcat(ca.diag(self._exact.mass_matrix_expression(q)), v))
        scale = np.abs(self._coordinates.evaluate(x, sampled, self._random(200))).max(axis=1)
        entries = [(i, j) for i in range(nv) for j in range(i, nv)]
        rows = [
            Entry(f"D_{i + 1}_{j + 1}", ca.SX(d[i, j]), 2, float(np.sqrt(scale[i] * scale[j])))
            for d in matrices(q)
            for i, j in entries
        ]
        series = expand(self._coordinates, x, [*rows, Entry("V", v, 1, float(scale[nv]))])
        terms = [
            [Term(None if k == len(rows) else entries[k % len(entries)], *one) for one in own]
            for k, own in enumerate(series)
        ]
        cuts = [*range(0, len(rows), len(entries)), len(rows), len(rows) + 1]
        return [[term for own in terms[k:end] for term in own] for k, end in itertools.pairwise(cuts)]

    def _random(self, n: int, seed: int = 0) -> Array:
        """x at random, n × nv."""
        return np.random.default_rng(seed).uniform(-1, 1, size=(n, self.tree.nv)) * self._coordinates.half
