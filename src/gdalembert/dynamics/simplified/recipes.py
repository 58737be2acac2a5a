"""Two ways to choose the terms: greedily under a bound, and the recipe of RSD-TR-8-82."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.generalized_dalembert import place, rotational_mass_matrix
from gdalembert.dynamics.simplified.dynamics import SimplifiedDynamics, SimplifiedOptions
from gdalembert.dynamics.simplified.pruning import contributions, droppable
from gdalembert.dynamics.simplified.series import Term
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix


class PrunedDynamics(SimplifiedDynamics):
    """The terms that matter: those without which some torque could be wrong by more than ``error`` times its limit.

    D and V are expanded exactly. Their terms are left out greedily, the least first, as long as the sums of what they
    can add to each torque stay within error · tau_max. Constants stay: those on the diagonal of D cost almost nothing
    and keep M positive definite; that of V makes no torque.

    Args:
        model: a ``pin.Model`` of revolute, continuous and prismatic joints, mimic joints included; or a ``Tree``,
            which has no limits of its own.
        error: the error that is allowed, relative to tau_max, in [0, 1); 0 keeps all terms.
        a_max: largest |a| [rad/s² or m/s²], nv numbers or one.
        v_max: largest |v| [rad/s or m/s], nv numbers or one; by default ``model.velocityLimit``.
        tau_max: largest torque [N m or N], nv numbers or one; ``error`` is relative to it; by default
            ``model.effortLimit``.
        q_range: (lower, upper) of the distances [m], nv numbers each or one, ignored for angles; by default the
            model's position limits.
        clean: tolerance of the cleaning of constants, from 0 to 1e-6; 0 takes every bit as given.
        springs: ``{joint: (stiffness, rest)}`` adds ``stiffness (q − rest)`` to tau: stiffness in N m/rad or N/m,
            rest in rad or m; one number each, or nv of them.
        friction: ``{joint: Friction(viscous, coulomb)}``, or ``"model"``, as of :class:`~gdalembert.Dynamics`.
        forces: further force elements (:class:`~gdalembert.dynamics.forces.Force`).
        actuation: B (nv × nu) of tau = B u, where the actuators are not one for each velocity; by default 1.
        parameters: inputs p of force elements, as of :class:`~gdalembert.Dynamics`; terms are chosen by the numbers of
            the robot, so that its inertia, armature and gravity cannot be inputs.
        wrenches: inputs at frames, as of :class:`~gdalembert.Dynamics`; their torques are exact.

    Raises:
        ArgumentTypeError: if ``error`` is not a number.
        UnsupportedError: for other joint types, and if an entry of D depends on too many joints
            (:data:`~gdalembert.dynamics.simplified.series.MOST_POINTS`).
        ArgumentError: if ``error`` is outside [0, 1), if a limit is missing, infinite or not positive, or if M is not
            positive definite in some configuration.
    """

    def __init__(
        self,
        model: pin.Model | Tree,
        error: float,
        *,
        a_max: npt.ArrayLike,
        **options: Unpack[SimplifiedOptions],
    ) -> None:
        if isinstance(error, bool) or not isinstance(error, numbers.Real):
            raise ArgumentTypeError(
                f"error={error!r}: give a number from 0 to below 1, 0.01 for a hundredth of tau_max"
            )
        if not 0 <= error < 1 or math.isnan(error):
            raise ArgumentError(f"error={error!r}: give a number from 0 to below 1, 0.01 for a hundredth of tau_max")
        self.error: float = float(error)
        super().__init__(model, a_max=a_max, **options)

    @property
    def _recipe(self) -> Mapping[str, Any]:
        return {"error": self.error}

    def _choose(self) -> tuple[list[Term], list[Term]]:
        inertia, energy = self._expand(lambda q: [self._exact.mass_matrix_expression(q)])
        terms = [*inertia, *energy]
        candidates = [term for term in terms if not term.is_free]
        drop = droppable(contributions(self._coordinates, self.limits, candidates), self.error * self.limits.tau)
        dropped = [term for term, goes in zip(candidates, drop, strict=True) if goes]
        gone = set(dropped)
        return [term for term in terms if term not in gone], dropped


class TranslationalRotational(SimplifiedDynamics):
    """The recipe of RSD-TR-8-82, section 3: only translation for the joints of the arm, only rotation for the wrist.

    D_ij is D^tra_ij between joints of the arm and D^rot_ij where one of the joints is of the wrist; gravity is exact.
    Velocity terms follow from this D. ``bound`` and :meth:`check` give the error, which is large for a PUMA 560.

    Args:
        model: a ``pin.Model`` of revolute, continuous and prismatic joints, mimic joints included; or a ``Tree``,
            which has no limits of its own.
        wrist: names of the joints of the wrist; by default all but the first three.
        a_max: largest |a| [rad/s² or m/s²], nv numbers or one.
        v_max: largest |v| [rad/s or m/s], nv numbers or one; by default ``model.velocityLimit``.
        tau_max: largest torque [N m or N], nv numbers or one; errors are relative to it; by default
            ``model.effortLimit``.
        q_range: (lower, upper) of the distances [m], nv numbers each or one, ignored for angles; by default the
            model's position limits.
        clean: tolerance of the cleaning of constants, from 0 to 1e-6; 0 takes every bit as given.
        springs: ``{joint: (stiffness, rest)}`` adds ``stiffness (q − rest)`` to tau: stiffness in N m/rad or N/m,
            rest in rad or m; one number each, or nv of them.
        friction: ``{joint: Friction(viscous, coulomb)}``, or ``"model"``, as of :class:`~gdalembert.Dynamics`.
        forces: further force elements (:class:`~gdalembert.dynamics.forces.Force`).
        actuation: B (nv × nu) of tau = B u, where the actuators are not one for each velocity; by default 1.
        parameters: inputs p of force elements, as of :class:`~gdalembert.Dynamics`; terms are chosen by the numbers of
            the robot, so that its inertia, armature and gravity cannot be inputs.
        wrenches: inputs at frames, as of :class:`~gdalembert.Dynamics`; their torques are exact.

    Raises:
        ArgumentTypeError: if ``wrist`` is not a list of names.
        UnknownNameError: if a name is not that of a joint.
        UnsupportedError: for other joint types, and if an entry of D depends on too many joints
            (:data:`~gdalembert.dynamics.simplified.series.MOST_POINTS`).
        ArgumentError: if a limit is missing, infinite or not positive, or if M is not positive definite in some
            configuration.
    """

    def __init__(
        self,
        model: pin.Model | Tree,
        wrist: Sequence[str] | None = None,
        *,
        a_max: npt.ArrayLike,
        **options: Unpack[SimplifiedOptions],
    ) -> None:
        names = () if wrist is None else wrist
        if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(x, str) for x in names):
            raise ArgumentTypeError(f"wrist={wrist!r}: give a list of names")
        self._wrist: tuple[str, ...] | None = None if wrist is None else tuple(names)
        super().__init__(model, a_max=a_max, **options)

    @property
    def wrist(self) -> tuple[str, ...]:
        """Names of the joints of the wrist."""
        names = self.tree.velocity_names
        for name in self._wrist or ():
            if name not in names:
                raise UnknownNameError("joint", name, names)
        return names[3:] if self._wrist is None else self._wrist

    @property
    def _recipe(self) -> Mapping[str, Any]:
        return {"wrist": self._wrist}

    def _choose(self) -> tuple[list[Term], list[Term]]:
        rotational = np.isin(self.tree.velocity_names, self.wrist)
        takes_rotation = rotational[:, None] | rotational[None, :]

        def kept_and_dropped(q: Matrix) -> list[Matrix]:
            rot = rotational_mass_matrix(self.tree, place(self.tree, q))
            tra = self._exact.mass_matrix_expression(q) - rot
            mask = np.array(takes_rotation, dtype=float)
            return [mask * rot + (1 - mask) * tra, mask * tra + (1 - mask) * rot]

        kept, dropped, energy = self._expand(kept_and_dropped)
        return [*kept, *energy], dropped
