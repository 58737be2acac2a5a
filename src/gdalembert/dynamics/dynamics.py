"""The contract of every formulation, in equations, and what follows from it once and for all.

    tau = M(q) a + nle(q, v) − Σ J(q)ᵀ w                    M = (links) + diag(armature)
    nle = C(q, v) v + g(q) + Σ force(q, v)                  dM/dt − 2 C skew
    a   = M⁻¹ (tau − nle + Σ Jᵀ w)                          g = ∂V/∂q
    ∂a/∂q = −M⁻¹ ∂tau/∂q,  ∂a/∂v = −M⁻¹ ∂tau/∂v             (∂tau at constant a)

A formulation is a subclass that writes down ``inverse_dynamics_expression`` for the links and their weight alone;
armature, the other force elements (:mod:`gdalembert.dynamics.forces`) and the external wrenches w
(:mod:`gdalembert.dynamics.wrenches`) are added here. What it does not write down itself follows from that one function.

Derivatives with respect to q are taken in the tangent space, nv columns: in the direction δ q moves as
``pin.integrate(q, s δ)`` does, dq/ds = T(q) δ, so that ∂f/∂q there is the partial derivative times T. T is the matrix
of dq/dt = T(q) v; where v = dq/dt it is 1.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypedDict

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics import forces as elements
from gdalembert.dynamics.actuation import Actuation, actuators_of, check_tendons
from gdalembert.dynamics.equations_of_motion import EquationsOfMotion
from gdalembert.dynamics.friction import FrictionOfJoints, JointFriction, Motors, MotorsByActuator
from gdalembert.dynamics.parameters.parameters import Given, Values, parameters_of
from gdalembert.dynamics.sources import Source
from gdalembert.dynamics.wrenches import ExternalWrenches, GivenIn, WrenchesByFrame
from gdalembert.errors import ArgumentError, CleaningWarning, ModelError
from gdalembert.model.cleaning import Change, clean_tree, warn_of_changes
from gdalembert.model.configuration import checked_configuration, reached
from gdalembert.model.from_pinocchio import idle_joints, read_tree, without_inertia
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arguments import choice, is_shown, numbers, vector
from gdalembert.spatial.arrays import Array, frozen, vibrations
from gdalembert.spatial.functions import symbols
from gdalembert.spatial.interrupts import interruptible

_AT_REST = 1e-6
"""The force that may be left at a configuration that counts as at rest, relative to the largest effort."""
HELD = ("braked", "locked", "free")
"""The parts of joints that may be held while an arm vibrates: motors, links, or none."""


class Options(TypedDict, total=False):
    """The arguments that every :class:`Dynamics` takes beside its model."""

    clean: float
    springs: elements.SpringsByJoint | None
    friction: FrictionOfJoints | None
    forces: Sequence[elements.Force] | None
    actuation: Actuation | None
    motors: MotorsByActuator | None
    parameters: Given | None
    wrenches: WrenchesByFrame | None


FORMULATIONS = ("generalized_dalembert", "lagrange_euler", "recursive_newton_euler")
"""The modules of our formulations, each of which registers its own when it is imported."""
REGISTRY: dict[str, type[Dynamics]] = {}
"""Every subclass of :class:`Dynamics` that gives itself a ``name``, by that name."""


@interruptible
class Dynamics(EquationsOfMotion, ABC):
    """Equations of motion of a model as ``casadi.Function`` objects, each built when it is first asked for.

    q, v, a, tau are Pinocchio's: lengths nq, nv, nv, nv; rad, m, s, N m, N; velocities of joints with nq ≠ nv in the
    axes of the moved link. Functions take numbers, SX and MX, by position or by name, and can be saved, loaded,
    pickled, mapped and differentiated as CasADi's can.

    Args:
        model: any ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree`.
        clean: tolerance of the cleaning of constants (:func:`~gdalembert.model.cleaning.clean_tree`); 0 takes every
            bit as given. What was cleaned is in ``changes``.
        springs: ``{joint: (stiffness, rest)}`` adds ``stiffness (q − rest)`` to tau (Niku, examples 4.1 and 4.2):
            stiffness in N m/rad or N/m, rest in rad or m; one number each, or nv of them.
        friction: ``{joint: Friction(viscous, coulomb)}`` (:class:`~gdalembert.Friction`) adds
            ``viscous v + coulomb tanh(v / smoothing)`` to tau; ``"model"`` does so with ``model.damping`` and
            ``model.friction``, which the ``<dynamics>`` of a URDF fills, for all joints and the default ``smoothing``.
        forces: further force elements (:class:`~gdalembert.dynamics.forces.Force`).
        actuation: B (nv × nu) of tau = B u, where the actuators are not one for each velocity; by default 1. Or
            ``{name: column of B}``, with a :class:`~gdalembert.Tendon` in place of a column where it is one; or a
            ``casadi.Function`` (q, u) → tau, whose inputs behind q name the actuators.
        motors: ``{actuator: Motor(…)}`` (:class:`~gdalembert.Motor`): rotor inertia and friction at the speeds w = Bᵀ v
            of the actuators, by their names, ``actuator_names``; B must be a matrix.
        parameters: what is an input p, the last one, of every Function: ``{kind: True or names of elements}``, or a
            list of kinds. Kinds: ``"inertia"`` of joints' bodies, ``"payload"`` at frames, ``"base"`` parameters in
            place of inertia, ``"placement"`` of joints and frames, ``"armature"``, ``"gravity"``, and each force
            element that has parameters, by its name, as ``"springs"``, ``"friction"`` and ``"motors"``.
        wrenches: ``{frame: reference}``: frames, by name or index, at which a wrench acts on the robot, and what it is
            given in, as in :func:`~gdalembert.joint_torques`: ``pin.LOCAL``, ``pin.WORLD`` or
            ``pin.LOCAL_WORLD_ALIGNED``. The wrenches are an input (6 × n), a column (f; m) [N, N m] for each frame in
            this order, before p, of inverse and forward dynamics, the state derivative and all derivatives: tau = M a +
            nle − Σ Jᵀ w. They have no part in nle, energies and the other Functions. ``{frame: (reference, "3D")}`` is
            a force (3) at the origin of the frame: the input is 3 × n if all are forces, and one column, 3 or 6 rows
            for each frame in turn, if some are (as the forces of a :class:`~gdalembert.ConstrainedDynamics`).

    Attributes:
        sources: where the equations come from, the first being what exports name; of the class.
        nominal: the numbers of the model, after cleaning.
        tree: the constants that stand in the graphs: those numbers, or the symbols of ``parameters``.
        parameters: names, values and symbols of p (:class:`~gdalembert.dynamics.parameters.parameters.Parameters`);
            empty by default, and the Functions have no p.
        clean: the tolerance of the cleaning, as given.
        changes: what cleaning changed; :attr:`change_in_tau` is what that did to tau.
        springs, friction, motors: as given.
        forces: the force elements beside gravity. ``added_forces``: those of the arguments ``springs``, ``friction``
            and ``forces``.
        actuators: tau of u (nu), the efforts of the actuators [N m, N]
            (:class:`~gdalembert.dynamics.actuation.Actuators`).
        wrenches: as given, read only; ``external_wrenches``: the same frames
            (:class:`~gdalembert.dynamics.wrenches.ExternalWrenches`).

    Raises:
        ArgumentTypeError: if the model is not one.
        ModelError: if it holds numbers without a meaning (:func:`~gdalembert.model.from_pinocchio.read_tree`).
        ArgumentError: if ``clean``, a spring, a friction or ``actuation`` cannot be used, wrenches act at a frame
            twice, or no joint moves that frame.
        UnknownNameError: if a spring or a friction names a joint, or a wrench a frame, that is not there.
    """

    name: ClassVar[str]
    sources: ClassVar[tuple[Source, ...]] = ()
    clean: float
    changes: tuple[Change, ...]
    springs: elements.SpringsByJoint
    friction: FrictionOfJoints
    motors: MotorsByActuator
    added_forces: tuple[elements.Force, ...]
    wrenches: WrenchesByFrame
    _options: Options
    _origin: tuple[Callable[[Dynamics, Array], Dynamics], tuple[Self, Array]] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        interruptible(cls)
        if "name" in cls.__dict__:
            if not cls.__module__.startswith("gdalembert."):
                formulations()  # whose names are taken
            taken = REGISTRY.get(cls.name)
            if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ArgumentError(f"{cls.__qualname__}: the name {cls.name!r} is that of {taken.__qualname__}")
            REGISTRY[cls.name] = cls
            if "sources" not in cls.__dict__:  # those of a base class are not where its equations come from
                cls.sources = ()

    def __init__(
        self,
        model: pin.Model | Tree,
        *,
        clean: float = CLEANED,
        springs: elements.SpringsByJoint | None = None,
        friction: FrictionOfJoints | None = None,
        forces: Sequence[elements.Force] | None = None,
        actuation: Actuation | None = None,
        motors: MotorsByActuator | None = None,
        parameters: Given | None = None,
        wrenches: WrenchesByFrame | None = None,
    ) -> None:
        self._given = read_tree(model)
        self._given.require_rigid_links(
            f"{type(self).__name__} takes them for rigid; the Functions of the FlexibleArm have the inertia of its "
            "modes"
        )
        self.clean = clean
        cleaned, self.changes = clean_tree(self._given, clean)
        self.nominal = cleaned
        of_forces = Options(springs=springs, friction=friction, forces=forces)
        self.actuators = actuators_of(self.nominal, actuation)
        other = Options(actuation=actuation, motors=motors, parameters=parameters, wrenches=wrenches)
        self._set_up(of_forces | other, ())
        self._require_inertia()
        if self.changes and is_shown(CleaningWarning):
            warn_of_changes(self._given, cleaned, self.changes, clean)

    def _set_up(self, options: Options, own_forces: Sequence[elements.Force]) -> None:
        """Set force elements, parameters and wrenches; own forces are those that a robot has without being told."""
        tree = self.nominal.constants
        springs, friction, wrenches = options.get("springs"), options.get("friction"), options.get("wrenches")
        at_joints = elements.Springs.at_joints(tree, {} if springs is None else springs)
        self.springs = MappingProxyType(dict(springs or {}))
        forces = elements.check_forces(options.get("forces"), tree)
        self._options = options | Options(forces=forces)
        friction = {} if friction is None else friction
        losses = JointFriction.of(tree, friction)
        self.friction = MappingProxyType(dict(friction)) if isinstance(friction, Mapping) else friction
        self.external_wrenches = ExternalWrenches.of(tree, wrenches)
        for name, index in zip(self.external_wrenches.names, self.external_wrenches.frames, strict=True):
            if tree.frames[index].joint < 0:
                raise ArgumentError(
                    f"wrenches: frame {name!r}: no joint moves it, so that a wrench there does nothing; give a frame "
                    "of a link that moves"
                )
        by_frame: dict[str | int, GivenIn] = dict((wrenches or {}).items())
        self.wrenches = MappingProxyType(by_frame)
        motors = options.get("motors")
        rotors: tuple[elements.Force, ...] = ()
        if motors is not None:
            of_motors = Motors.of(tree, self.actuators, self.actuators.names(tree.velocity_names), motors)
            rotors = (of_motors,)
        self.motors = MappingProxyType(dict({} if motors is None else motors))
        added = (*((at_joints,) if springs else ()), *((losses,) if friction else ()), *rotors, *forces)
        if self.nominal.springs:
            own_forces = (elements.Springs.at_joints(tree, self.nominal.springs), *own_forces)
        self.parameters = parameters_of(self.nominal, (*added, *own_forces), options.get("parameters"), self.clean)
        self.tree, self.forces, self.nominal = self.parameters.tree, self.parameters.forces, self.parameters.nominal
        self.added_forces = self.forces[: len(added)]
        check_tendons(self.tree, options.get("actuation"))

    def _require_inertia(self) -> None:
        """Refuse joints that move no inertia, whatever p is."""
        if names := self.parameters.idle_joints():
            raise ModelError(
                f"{self.tree.name}: {without_inertia(names)}; give the links mass and inertia, the joints an "
                "armature or motors=, or the robot parameters={'inertia': True}, so that p has them; gd.Kinematics, "
                "gd.joint_torques and the kinematics of cpin need no inertia"
            )

    def require_inertia_of(self, context: str, p: Array) -> None:
        """Refuse p (n_p) with which a joint moves no inertia."""
        if names := self.parameters.idle_joints(p):
            raise ArgumentError(
                f"{context}: {self.tree.name}: with this p {without_inertia(names)}; give p of a robot with inertia"
            )

    def at(self, p: Values = None) -> Self:
        """The robot with numbers in place of p: those of the model, or p, all values or some of them by name.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: as
                :meth:`~gdalembert.dynamics.parameters.parameters.Parameters.vector`; if the robot has no parameters,
                or a joint moves no inertia with these.
        """
        if not self.parameters:
            self.parameters.refuse("at", p)
            return self
        values = self.parameters.vector(p)
        self.require_inertia_of("at", values)
        return self._with_values(values)

    def _with_values(self, values: Array) -> Self:
        """The robot with numbers (n_p) in place of p, whatever M they give."""
        if not self.parameters:
            return self
        tree, forces = self.parameters.substitute(ca.DM(values))
        robot = self._on(tree)
        robot.nominal, robot.forces, robot.added_forces = tree, forces, forces[: len(self.added_forces)]
        robot.parameters, robot._origin = parameters_of(tree, forces, None, 0.0), (Dynamics.at, (self, values))
        return robot

    def under(self, wrenches: npt.ArrayLike | None = None) -> Self:
        """The robot under constant wrenches (6 × n, or as the input is), zero by default, which are no input then.

        Raises:
            ArgumentTypeError, ArgumentError: if they are not finite numbers of the shape of the input.
        """
        if not self.external_wrenches.is_input and wrenches is None:
            return self
        values = self.external_wrenches.numbers("under: wrenches", wrenches)
        robot = self._on(self.tree)
        robot.external_wrenches = replace(
            self.external_wrenches, constant=self.external_wrenches.columns(spatial.constant(values))
        )
        robot._origin = Dynamics.under, (self, values)
        return robot

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin or (partial(type(self), **self._arguments), (self._given,))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tree.name!r}, nq={self.tree.nq}, nv={self.tree.nv})"

    @property
    def _arguments(self) -> Options:
        """The arguments beside the model."""
        friction = dict(self.friction) if isinstance(self.friction, Mapping) else self.friction
        as_given = Options(
            clean=self.clean, springs=dict(self.springs), friction=friction, wrenches=dict(self.wrenches)
        )
        return self._options | as_given

    # What callers ask of any robot, rigid or flexible.

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """A name for each entry of u: the one given, that of the coordinate which it drives alone, or ``u[k]``."""
        return self.actuators.names(self.driven_names)

    @property
    def driven_names(self) -> tuple[str, ...]:
        """The name of what an actuator drives by each entry of tau: that coordinate."""
        return self.coordinate_names

    @property
    def damping_matrix(self) -> Array:
        """D (nv × nv) [N m s/rad, N s/m]: viscous damping, the part D v of the forces, in the model."""
        zero = ca.DM(self.tree.nv, self.tree.nv)
        forces = self._with_values(self.parameters.vector()).forces
        return frozen(sum((force.damping_matrix(self.nominal) for force in forces), zero).full())

    @cached_property
    def forces_depend_on_velocity(self) -> bool:
        """True if a force element has a torque that depends on v."""
        q, v = symbols(q=self.tree.nq, v=self.tree.nv).values()
        return bool(ca.jacobian_sparsity(ca.SX(self.force_torque_expression(q, v)), v).nnz())

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v."""
        return self.tree.velocity_names

    @property
    def modes(self) -> range:
        """The entries of v that are modal coordinates; none of a rigid robot."""
        return range(self.tree.nv, self.tree.nv)

    @property
    def modes_by_link(self) -> dict[str, range]:
        """The entries of v that are coordinates of each flexible link, by name; none of a rigid robot."""
        return {}

    @property
    def flexible_joints(self) -> tuple[Joint, ...]:
        """The joints (link side) that springs hold to rotors (motor side), the last entries of v in the same order."""
        return ()

    def bending_warnings(self, q: Array) -> tuple[str, ...]:
        """A sentence for each Cosserat rod that configurations (N × nq) bend further than it resolves."""
        return ()

    @cached_property
    def change_in_tau(self) -> float:
        """The change of tau by cleaning: the largest relative error, max|Δ| / max(1, max|tau|), at 100 random states.

        The states are always the same. 0 if nothing was cleaned.
        """
        if not self.changes:
            return 0.0
        if self._origin is not None:
            return self._origin[1][0].change_in_tau
        cleaned, nv = self._with_values(self.parameters.values).under(), self.tree.nv
        parameters = self._options.get("parameters") if idle_joints(self._given) else None  # which no robot is without
        exact = type(self)(self._given, **(self._arguments | Options(clean=0, parameters=parameters, wrenches=None)))
        exact = exact._with_values(exact.parameters.values)
        x, v, a = np.split(np.random.default_rng(0).normal(size=(100, 3 * nv)), 3, axis=1)
        worst = 0.0
        for state in zip(reached(self.tree, x), v, a, strict=True):
            before = exact.inverse_dynamics(*state).full()
            change = np.abs(cleaned.inverse_dynamics(*state).full() - before).max()
            worst = max(worst, float(change / max(1.0, np.abs(before).max())))
        return worst

    # Small motions about a configuration. Arguments ``p`` are values of the parameters, by default those of the model.

    def configuration(self, argument: str, q: npt.ArrayLike) -> Array:
        """A configuration (nq), or that of joints alone, with undeformed links and rotors where their joints are.

        ``argument`` is its name in errors.

        Raises:
            ArgumentError: if it has another length, a number is not finite, or a quaternion is not of unit length.
        """
        x, joints = numbers(argument, q), self.tree.nq - (self.tree.nv - self.modes.start)
        if joints < self.tree.nq and x.shape in ((joints,), (joints, 1)):
            x = np.pad(x.ravel(), (0, self.tree.nq - joints))
            if self.flexible_joints:
                x[-len(self.flexible_joints) :] = x[[joint.idx_q for joint in self.flexible_joints]]
        elif joints < self.tree.nq and x.shape not in ((self.tree.nq,), (self.tree.nq, 1)):
            raise ArgumentError(
                f"{argument} has shape {x.shape}; give ({self.tree.nq},), or ({joints},) of the joints alone"
            )
        return checked_configuration(argument, x, self.tree)

    def force_stiffness(self, q: Array, p: Values = None) -> Array:
        """Stiffness ∂force/∂q of the force elements at rest (nv × nv) [N m/rad, N/m]; gravity is not in it."""
        q = vector("force_stiffness: q", q, self.tree.nq)
        return frozen(self._force_stiffness(q, *self._values_of("force_stiffness", p, dynamics=False)).full())

    @cached_property
    def _force_stiffness(self) -> ca.Function:
        s = self.symbols("q")
        by_q, _ = self.force_derivatives_expression(s["q"], ca.DM.zeros(self.tree.nv))
        return ca.Function("stiffness", list(s.values()), [by_q])

    def _values_of(self, context: str, p: Values, *, dynamics: bool = True) -> list[Array]:
        """Values of p as the last input of a Function; for dynamics every joint has to move inertia with it."""
        if self.parameters:
            values = self.parameters.vector(p, f"{context}: p")
            if dynamics and self.parameters.idle_in_model:
                self.require_inertia_of(context, values)
            return [values]
        self.parameters.refuse(context, p)
        return []

    def natural_frequencies(self, q: npt.ArrayLike, *, joints: str | None = None, p: Values = None) -> Array:
        """Frequencies [rad/s] (eigenfrequencies) of small vibrations about q, lowest first.

        Args:
            q: a configuration (nq), or that of the joints alone.
            joints: what is held. ``"braked"``: the motors, as by a brake or a servo, so that modes vibrate and the
                links of flexible joints swing against their rotors. ``"locked"``: the link side of all joints, so that
                modes vibrate, and rotors against their joints. ``"free"``: nothing, with a frequency of zero for each
                motion that no spring holds back. By default braked where the robot has flexible links or joints, free
                where it is rigid.

        Gravity, wrenches, velocities and damping are left out; the eigenvalues of :meth:`linearize` have them.

        Raises:
            ArgumentError: if ``joints`` is none of these, q is not a configuration, or the stiffness of the forces is
                not symmetric and positive semidefinite.
        """
        return self._natural_modes("natural_frequencies", q, joints, p)[0]

    def natural_modes(self, q: npt.ArrayLike, *, joints: str | None = None, p: Values = None) -> tuple[Array, Array]:
        """The frequencies (n) [rad/s] and shapes (nv × n) of small vibrations about q: a column for each frequency.

        Shapes are mass-normalised, ψᵀ M ψ = 1, and zero in what is held. Arguments and errors are those of
        :meth:`natural_frequencies`.
        """
        return self._natural_modes("natural_modes", q, joints, p)

    def modal_damping(self, q: npt.ArrayLike, *, joints: str | None = None, p: Values = None) -> Array:
        """Damping ratios (n) of the natural modes, ψᵀ D ψ / 2ω; nan where nothing holds a motion back.

        D is :attr:`damping_matrix`. What couples modes by damping is left out; the eigenvalues of :meth:`linearize`
        have it. Arguments and errors are those of :meth:`natural_frequencies`.
        """
        frequencies, shapes = self._natural_modes("modal_damping", q, joints, p)
        damping = np.sum(shapes * (self.at(p).damping_matrix @ shapes), axis=0)
        return np.asarray(damping / (2 * np.where(frequencies > 0, frequencies, np.nan)))

    def _natural_modes(self, context: str, q: npt.ArrayLike, joints: str | None, p: Values) -> tuple[Array, Array]:
        first, nv = self.modes.start, self.tree.nv
        if joints is None:
            joints = "braked" if first < nv else "free"
        choice(f"{context}: joints", joints, HELD)
        configuration = self.configuration(f"{context}: q", q)
        swinging = [joint.idx_v for joint in self.flexible_joints]
        chosen = {"braked": [*swinging, *self.modes], "locked": [*range(first, nv)], "free": [*range(nv)]}[joints]
        index = np.ix_(chosen, chosen)
        values = self._values_of(context, p)
        stiffness = self.force_stiffness(configuration, p)[index]
        size = np.abs(stiffness).max(initial=0)
        if not np.isfinite(size) or np.abs(stiffness - stiffness.T).max(initial=0) > elements.ASYMMETRY * size:
            raise ArgumentError(
                f"{context}: the stiffness of the forces is not finite and symmetric at q; take the eigenvalues of "
                "linearize(q)"
            )
        frequencies, of_chosen, least = vibrations(self.mass_matrix(configuration, *values).full()[index], stiffness)
        if least < -elements.ASYMMETRY:
            raise ArgumentError(
                f"{context}: a force drives the robot away from q (negative stiffness), so that it does not vibrate "
                "about it; take the eigenvalues of linearize(q)"
            )
        shapes = np.zeros((nv, len(chosen)))
        shapes[chosen] = of_chosen
        return frequencies, shapes

    def linearize(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        *,
        p: Values = None,
        wrenches: npt.ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """A (2 nv × 2 nv) and B (2 nv × nu) of d/dt [δq; δv] = A [δq; δv] + B δu about (q, v, u), δq tangent to q.

        Args:
            q: a configuration (nq), or that of the joints alone.
            v: velocities (nv), 0 by default.
            u: efforts of the actuators (nu), by default those that hold the robot at q: without v, q has to be a
                configuration at rest, as :meth:`~gdalembert.FlexibleArm.static_deflection` gives it for an arm. With v
                or u the equations are linearised about any motion.

        Constant ``wrenches`` (6 × n, or as the input is) act where they are an input, zero by default.

        Raises:
            ArgumentError: if an argument has a wrong length, or if without v and u no u holds the robot at q.
        """
        nv, actuators = self.tree.nv, self.actuators
        configuration = self.configuration("linearize: q", q)
        rate = np.zeros(nv) if v is None else vector("linearize: v", v, nv)
        robot = self.at(p).under(wrenches)
        nle = robot.inverse_dynamics(configuration, rate, np.zeros(nv)).full().ravel()
        if u is None:
            effort = actuators.efforts(configuration, nle)
            left = np.abs(nle - actuators.torque(configuration, effort))
            if v is None and left.max() > _AT_REST * max(1.0, np.abs(nle).max()):
                rest = "static_deflection(q)" if self.modes.start < nv else "a configuration at rest"
                raise ArgumentError(
                    f"linearize: nothing holds {self.coordinate_names[int(left.argmax())]!r} at q, where a force of "
                    f"{left.max():.3g} is left on it; start from {rest}, or give u"
                )
        else:
            effort = vector("linearize: u", u, actuators.nu)
        m = robot.mass_matrix(configuration).full()
        acceleration = np.linalg.solve(m, actuators.torque(configuration, effort) - nle)
        # M is solved in numbers: the graph of ∂a/∂q and ∂a/∂v has 1.8 times the instructions of that of ∂tau/∂q and
        # ∂tau/∂v (PUMA 560), of a humanoid four times
        of_q, b = actuators.derivatives(configuration, effort)
        by_q, by_v = (x.full() for x in robot.inverse_dynamics_derivatives(configuration, rate, acceleration))
        rates = np.linalg.solve(m, np.hstack([of_q - by_q, -by_v, b]))
        a_matrix = np.vstack([np.hstack([self._drift(configuration, rate), np.eye(nv)]), rates[:, : 2 * nv]])
        return a_matrix, np.vstack([np.zeros_like(b), rates[:, 2 * nv :]])

    def _drift(self, q: Array, v: Array) -> Array:
        """Derivative ∂(dδq/dt)/∂δq at (q, v), nv × nv: 0 where v = dq/dt, −ad v for a spherical joint or a free-flyer.

        With dq/dt = T v and a neighbouring motion q + T δq: T dδq/dt = ∂(T v)/∂q T δq − dT/dt δq + T δv.
        """
        x = ca.SX.sym("q", self.tree.nq)
        t = self.tree.tangent_map(x)
        change = ca.jtimes(t @ ca.DM(v), x, t) - ca.reshape(ca.jtimes(ca.vec(t), x, t @ ca.DM(v)), *t.shape)
        tangent, drift = ca.Function("drift", [x], [t, change])(q)
        return np.asarray(np.linalg.lstsq(tangent.full(), drift.full(), rcond=None)[0])


def formulations() -> dict[str, type[Dynamics]]:
    """All formulations by name: ours, and every subclass of :class:`Dynamics` that gives itself a ``name``."""
    for module in FORMULATIONS:
        import_module(f"gdalembert.dynamics.{module}")
    return dict(sorted(REGISTRY.items()))
