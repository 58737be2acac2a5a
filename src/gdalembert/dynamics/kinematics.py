"""Kinematics of a model: Functions of its frames, of its centre of mass, and of its configuration space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics import centroidal, frame_motion
from gdalembert.dynamics.frames import FrameIndex, asked_frame, check_reference, find_frame, joint_frame
from gdalembert.dynamics.parameters.groups import LinkInertias, Payload, Placement
from gdalembert.dynamics.parameters.parameters import Given, Parameters, Values, parameters_of
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.cleaning import Change, clean_tree
from gdalembert.model.configuration import (
    difference,
    integrate,
    integrate_derivatives,
    unit_and_scale,
    unit_blocks,
)
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import checked_transform, listed
from gdalembert.spatial.arrays import frozen
from gdalembert.spatial.functions import TupleFunction, function, symbols
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.lie.maps import motion_log

_KINDS = (Placement.kind, LinkInertias.kind, Payload.kind)
"""The kinds of parameters that kinematics depends on."""


@interruptible
class Kinematics:
    """Kinematics of a model as ``casadi.Function`` objects, each built when it is first asked for.

    q, v, a are Pinocchio's: lengths nq, nv, nv; rad, m, s. Twists and accelerations have 6 entries, linear first. A
    twist (linear; angular) and everything that follows from it can be seen from three references:

    * ``pin.LOCAL``: velocity of the frame's origin, and angular velocity, both in the axes of the frame itself.
    * ``pin.LOCAL_WORLD_ALIGNED``: velocity of the frame's origin, and angular velocity, both in the axes of the
      universe: what most people mean by "the velocity of the tool".
    * ``pin.WORLD``: in the axes of the universe too, but the linear part is the velocity of that point of the moving
      body (thought of as extended without limit) that just passes the origin of the *universe*.

    The *spatial* acceleration is the rate of the twist at a place fixed in the reference; the *classical* one has the
    acceleration of a point of the body as its linear part. They differ by ω × v there, in all three references.

    A frame is given by its name or its index in ``model.frames``; frames on the universe stand still.

    Args:
        model: any ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree`; that of :mod:`gdalembert.symbolic` has
            parameters of its own.
        clean: tolerance of the cleaning of constants (:func:`~gdalembert.model.cleaning.clean_tree`); 0 takes every
            bit as given. What was cleaned is in ``changes``.
        parameters: what is an input p, the last one, of every Function but :attr:`integrate` and :attr:`difference`:
            ``{kind: True or names of elements}``, or a list of kinds. Kinds: ``"placement"`` of joints and frames;
            ``"inertia"`` of joints' bodies and ``"payload"`` at frames, for centres of mass and momenta.

    Attributes:
        tree: the constants that stand in the graphs: numbers, after cleaning, or the symbols of ``parameters``.
        parameters: names, values and symbols of p (:class:`~gdalembert.dynamics.parameters.parameters.Parameters`);
            empty by default, and the Functions have no p.
        changes: what cleaning changed.

    Raises:
        ArgumentTypeError: if the model or ``parameters`` is of the wrong type; by the methods, if a frame is neither a
            name nor an index, or a reference is not a ``pin.ReferenceFrame``.
        ModelError: if the model holds numbers without a meaning (:func:`~gdalembert.model.from_pinocchio.read_tree`).
        ArgumentError: if ``clean`` cannot be used; by the methods, if several frames have the name that is asked for,
            or if an index is out of range, or is that of a joint, too (as one of ``model.getJointId``).
        UnknownNameError: by the methods, if no frame has the name; if kinematics depends on no such kind of parameters,
            or there is no such element.
        UnsupportedError: if the constants of a tree have symbols that are no parameters.
    """

    tree: Tree
    parameters: Parameters
    changes: tuple[Change, ...]
    _takes_any_index = False

    def __init__(self, model: pin.Model | Tree, *, clean: float = CLEANED, parameters: Given | None = None) -> None:
        self._given, self._clean, self._asked = read_tree(model), clean, parameters
        if not (self._given.is_numeric or self._given.symbols.numel()):
            raise UnsupportedError(
                f"{self._given.name}: its constants have symbols that are no inputs, and Kinematics takes numbers; "
                "give it the model and parameters=, or the nominal tree of the Dynamics"
            )
        tree, self.changes = clean_tree(self._given, clean)
        for kind in listed(parameters) or ():
            if isinstance(kind, str) and kind not in _KINDS:
                raise UnknownNameError("kind of parameters of Kinematics", kind, _KINDS)
        self._set_up(parameters_of(tree, (), parameters, clean))

    def _set_up(self, parameters: Parameters) -> None:
        self.parameters, self.tree = parameters, parameters.tree
        self._functions: dict[tuple[str, int, pin.ReferenceFrame | None], ca.Function] = {}
        self._origin: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, parameters: Parameters) -> Self:
        """The kinematics of a robot with these parameters, as ``dyn.parameters``, which are the input p."""
        made = object.__new__(cls)
        made._given, made._clean, made._asked, made.changes = parameters.nominal, 0.0, None, ()
        made._set_up(parameters)
        made._origin = cls.of, (parameters,)
        return made

    def at(self, p: Values = None) -> Self:
        """The same with numbers in place of p: those of the model, or p, all values or some of them by name.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: as
                :meth:`~gdalembert.dynamics.parameters.parameters.Parameters.vector`; if there are no parameters.
        """
        if not self.parameters:
            self.parameters.refuse("at", p)
            return self
        values = self.parameters.vector(p)
        made = type(self)(self.parameters.substitute(ca.DM(values))[0], clean=0)
        made.changes, made._origin = self.changes, (Kinematics.at, (self, values))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin or (partial(type(self), clean=self._clean, parameters=self._asked), (self._given,))

    def __repr__(self) -> str:
        tree = self.tree
        return f"{type(self).__name__}({tree.name!r}, nq={tree.nq}, nv={tree.nv}, {len(tree.frames)} frames)"

    def by_index(self) -> Self:
        """Itself, which then takes any index in ``model.frames``, also one that a joint has, too."""
        self._takes_any_index = True
        return self

    def _frame(self, frame: str | int) -> FrameIndex:
        if self._takes_any_index:
            return find_frame(self.tree, frame)
        return asked_frame(self.tree, frame, ", or take Kinematics(model).by_index()")

    def frame_placement(self, frame: str | int) -> ca.Function:
        """(q) → (T), 4 × 4: the frame in the universe, T = [R p; 0 1]; equals ``data.oMf``, a ``pin.SE3``."""
        index = self._frame(frame)
        key = "frame_placement", index, None
        if key not in self._functions:
            s = self.symbols("q")
            placed = frame_motion.transform(self.tree, self.tree.frames[index], *s.values())
            self._functions[key] = function("frame_placement", s, {"T": placed})
        return self._functions[key]

    def frame_placements(self, frames: Sequence[str | int]) -> ca.Function:
        """(q) → (T_0, T_1, …), 4 × 4 each: several frames, in the order given, with what they share computed once.

        A call by position gives a tuple, also of one frame.

        Raises:
            ArgumentTypeError: if it is not a list of frames.
            ArgumentError: if no frame is given.
        """
        if isinstance(frames, str) or not isinstance(frames, Sequence | np.ndarray):
            raise ArgumentTypeError(f"frame_placements: got {shown(frames)}; give a list of frames, by name or index")
        indices = [self._frame(frame) for frame in np.ravel(np.array(frames, dtype=object))]
        if not indices:
            raise ArgumentError(f"{self.tree.name}: frame_placements: got no frames; give at least one")
        s = self.symbols("q")
        placed = frame_motion.placements(self.tree, [self.tree.frames[index] for index in indices], *s.values())
        outputs = {f"T_{k}": spatial.transform(r, p) for k, (r, p) in enumerate(placed)}
        return function("frame_placements", s, outputs, TupleFunction)

    def joint_placement(self, joint: str | int) -> ca.Function:
        """(q) → (T), 4 × 4: the frame of one of Pinocchio's joints, by name or index, that moves with its link.

        Equals ``data.oMi``.

        Raises:
            UnknownNameError: if no joint has the name.
        """
        s = self.symbols("q")
        placed = frame_motion.transform(self.tree, joint_frame(self.tree, joint), *s.values())
        return function("joint_placement", s, {"T": placed})

    def frame_error(self, frame: str | int) -> ca.Function:
        """(q, T) → (error), 6 [m; rad]: the twist that moves the frame to T (4 × 4) in unit time, LOCAL.

        log6 of oMf⁻¹ T, with an angle of at most π: what inverse kinematics drives to zero
        (:mod:`gdalembert.spatial.lie`).
        """
        inputs = self.symbols("q")
        s = {"q": inputs["q"], "T": ca.SX.sym("T", 4, 4)} | self.parameters.inputs
        placed = frame_motion.transform(self.tree, self.tree.frames[self._frame(frame)], *inputs.values())
        r, p = placed[:3, :3], placed[:3, 3]
        difference = spatial.transform(r.T @ s["T"][:3, :3], r.T @ (s["T"][:3, 3] - p))
        return function("frame_error", s, {"error": motion_log(difference)})

    def frame_jacobian(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q) → (J), 6 × nv: twist = J v; equals ``pin.computeFrameJacobian``."""
        return self._function(frame_motion.jacobian, frame, reference, "J", "q")

    def frame_jacobian_rate(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v) → (dJ), 6 × nv: the rate of the entries of J; equals ``pin.getFrameJacobianTimeVariation``."""
        return self._function(frame_motion.jacobian_rate, frame, reference, "dJ", "q", "v")

    @cached_property
    def joint_jacobians(self) -> ca.Function:
        """(q) → (J), 6 × nv: the columns of all joints, in WORLD; equals ``pin.computeJointJacobians``."""
        return self._of_robot(frame_motion.joint_jacobians, "J", "q")

    @cached_property
    def joint_jacobians_rate(self) -> ca.Function:
        """(q, v) → (dJ), 6 × nv: the rate of their entries; equals ``pin.computeJointJacobiansTimeVariation``."""
        return self._of_robot(frame_motion.joint_jacobians_rate, "dJ", "q", "v")

    def frame_velocity(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v) → (twist), 6 [m/s; rad/s]: equals ``pin.getFrameVelocity``."""
        return self._function(frame_motion.velocity, frame, reference, "twist", "q", "v")

    def frame_acceleration(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v, a) → (acceleration), 6 [m/s²; rad/s²], spatial: equals ``pin.getFrameAcceleration``, without gravity.

        LOCAL and WORLD: the rate of the entries of the twist, J a + J̇ v. LOCAL_WORLD_ALIGNED: the LOCAL one in other
        axes; there the rate of the entries of the twist is the classical acceleration.
        """
        return self._function(frame_motion.acceleration, frame, reference, "acceleration", "q", "v", "a")

    def frame_classical_acceleration(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v, a) → (acceleration), 6 [m/s²; rad/s²], classical: equals ``pin.getFrameClassicalAcceleration``.

        LOCAL and LOCAL_WORLD_ALIGNED: the linear part is what an accelerometer at the frame's origin measures, without
        gravity.
        """
        return self._function(frame_motion.classical_acceleration, frame, reference, "acceleration", "q", "v", "a")

    def frame_bias_acceleration(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v) → (bias), 6 [m/s²; rad/s²]: the spatial acceleration at a = 0, so that acceleration = J a + bias.

        LOCAL and WORLD: bias = J̇ v, with J̇ the rate of the entries of J.
        """
        return self._function(frame_motion.bias_acceleration, frame, reference, "bias", "q", "v")

    def frame_velocity_derivatives(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v) → (dtwist_dq, dtwist_dv), 6 × nv each: equals ``pin.getFrameVelocityDerivatives``.

        Of the entries of the twist; by q in the tangent space, column j as q moves to ``pin.integrate(q, s e_j)``.
        """
        names = "dtwist_dq", "dtwist_dv"
        return self._function(frame_motion.velocity_derivatives, frame, reference, names, "q", "v")

    def frame_acceleration_derivatives(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q, v, a) → (dacceleration_dq, dacceleration_dv, dacceleration_da), 6 × nv each, of the spatial acceleration.

        Equals ``pin.getFrameAccelerationDerivatives``; by q as :meth:`frame_velocity_derivatives`.
        """
        names = "dacceleration_dq", "dacceleration_dv", "dacceleration_da"
        return self._function(frame_motion.acceleration_derivatives, frame, reference, names, "q", "v", "a")

    def frame_kinematic_regressor(self, frame: str | int, reference: pin.ReferenceFrame) -> ca.Function:
        """(q) → (Y), 6 × 6 (njoints − 1): the twist of a frame is Y times the twists of all joint placements, LOCAL.

        Equals ``pin.computeFrameKinematicRegressor``: the derivative of the frame's placement as
        ``model.jointPlacements[j]`` moves to ``model.jointPlacements[j] * pin.exp6(s e)``; six columns for each joint,
        zero for those that do not carry the frame.
        """
        return self._function(frame_motion.kinematic_regressor, frame, reference, "Y", "q")

    def joint_kinematic_regressor(
        self, joint: str | int, reference: pin.ReferenceFrame, placement: pin.SE3 | npt.ArrayLike | None = None
    ) -> ca.Function:
        """(q) → (Y), 6 × 6 (njoints − 1): as :meth:`frame_kinematic_regressor`, of a frame placed at a joint.

        The ``placement`` (4 × 4, or a ``pin.SE3``) is in the joint's frame, and the joint's frame itself by default.
        Equals ``pin.computeJointKinematicRegressor``.

        Raises:
            UnknownNameError: if no joint has the name.
            ArgumentTypeError, ArgumentError: if the placement is none.
        """
        check_reference(reference)
        at = joint_frame(self.tree, joint)
        if placement is not None:
            t = checked_transform("joint_kinematic_regressor: placement", placement, expected="4 × 4, or a pin.SE3")
            at = replace(at, rotation=frozen(t[:3, :3]), translation=frozen(t[:3, 3]))
        s = self.symbols("q")
        y = frame_motion.kinematic_regressor(self.tree, at, reference, s["q"])
        return function("joint_kinematic_regressor", s, {"Y": y})

    @property
    def total_mass(self) -> float:
        """Mass of all links that a joint moves [kg]: equals ``pin.computeTotalMass``.

        Raises:
            UnsupportedError: if masses are parameters.
        """
        mass = centroidal.total_mass(self.tree)
        if isinstance(mass, ca.SX):
            raise UnsupportedError(f"{self.tree.name}: total_mass: masses are parameters; take kin.at(p).total_mass")
        return float(mass)

    @cached_property
    def center_of_mass(self) -> ca.Function:
        """(q) → (com), 3 [m]: of all links that a joint moves, in the universe; equals ``pin.centerOfMass``.

        Raises:
            ModelError: if the links have no mass, here and in what follows from it.
        """
        return self._of_robot(centroidal.center_of_mass, "com", "q")

    @cached_property
    def center_of_mass_jacobian(self) -> ca.Function:
        """(q) → (J), 3 × nv: velocity = J v; equals ``pin.jacobianCenterOfMass``."""
        return self._of_robot(centroidal.center_of_mass_jacobian, "J", "q")

    @cached_property
    def center_of_mass_velocity(self) -> ca.Function:
        """(q, v) → (velocity), 3 [m/s]: equals ``data.vcom[0]``."""
        return self._of_robot(centroidal.center_of_mass_velocity, "velocity", "q", "v")

    @cached_property
    def center_of_mass_acceleration(self) -> ca.Function:
        """(q, v, a) → (acceleration), 3 [m/s²]: equals ``data.acom[0]``, without gravity."""
        return self._of_robot(centroidal.center_of_mass_acceleration, "acceleration", "q", "v", "a")

    @cached_property
    def centroidal_map(self) -> ca.Function:
        """(q) → (Ag), 6 × nv: momentum = Ag v; equals ``pin.computeCentroidalMap``.

        Centroidal quantities are (linear; angular) about the centre of mass, in the axes of the universe. Armatures
        have no part in them.

        Raises:
            UnsupportedError: if links are flexible to first order, here and for the momentum and its rate.
        """
        return self._of_robot(centroidal.centroidal_map, "Ag", "q")

    @cached_property
    def centroidal_map_rate(self) -> ca.Function:
        """(q, v) → (dAg), 6 × nv: the rate of the entries of Ag; equals ``data.dAg`` of ``pin.dccrba``.

        momentum rate = Ag a + dAg v.
        """
        return self._of_robot(centroidal.centroidal_map_rate, "dAg", "q", "v")

    @cached_property
    def centroidal_maps(self) -> ca.Function:
        """(q, v) → (Ag, dAg), 6 × nv each, with what they share computed once: equals ``pin.dccrba``."""
        q, v, *p = (s := self.symbols("q", "v")).values()
        return function(
            "centroidal_maps", s, {"Ag": self.centroidal_map(q, *p), "dAg": self.centroidal_map_rate(q, v, *p)}
        )

    @cached_property
    def centroidal_momentum(self) -> ca.Function:
        """(q, v) → (h), 6 [kg m/s; kg m²/s]: equals ``pin.computeCentroidalMomentum``."""
        return self._of_robot(centroidal.centroidal_momentum, "h", "q", "v")

    @cached_property
    def centroidal_momentum_rate(self) -> ca.Function:
        """(q, v, a) → (hdot), 6 [N; N m]: equals ``pin.computeCentroidalMomentumTimeVariation``.

        It is the sum of all external wrenches, weight included.
        """
        return self._of_robot(centroidal.centroidal_momentum_rate, "hdot", "q", "v", "a")

    @cached_property
    def centroidal_dynamics_derivatives(self) -> ca.Function:
        """(q, v, a) → (dh_dq, dhdot_dq, dhdot_dv, dhdot_da), 6 × nv each: of the momentum and of its rate.

        Equals ``pin.computeCentroidalDynamicsDerivatives``; by q in the tangent space, column j as q moves to
        ``pin.integrate(q, s e_j)``. dhdot_da is Ag, and dhdot_dv is dAg + dh_dq.
        """
        names = "dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da"
        return self._of_robot(centroidal.centroidal_dynamics_derivatives, names, "q", "v", "a")

    @cached_property
    def integrate(self) -> ca.Function:
        """(q, v) → (q_next), nq: where the constant velocity v leads from q in unit time; equals ``pin.integrate``.

        Exact with all derivatives at and near v = 0. q must be a configuration (unit quaternions, cos² + sin² = 1): it
        is not normalised. Two quaternions describe a rotation: this one is continuous in v. For a free-flyer Pinocchio
        gives the one nearer to q, which is the other one where it turns by more than π.
        """
        s = symbols(q=self.tree.nq, v=self.tree.nv)
        return function("integrate", s, {"q_next": integrate(self.tree, s["q"], s["v"])})

    @cached_property
    def difference(self) -> ca.Function:
        """(q0, q1) → (v), nv: the velocity that leads from q0 to q1 in unit time; equals ``pin.difference``.

        The shortest way: rotations by at most π. Exact with all derivatives at and near q0 = q1; it jumps at a
        rotation by π.
        """
        s = symbols(q0=self.tree.nq, q1=self.tree.nq)
        return function("difference", s, {"v": difference(self.tree, s["q0"], s["q1"])})

    @cached_property
    def integrate_derivatives(self) -> ca.Function:
        """(q, v) → (dq_dq, dq_dv), nv × nv each, in the tangent spaces of q and q_next; equals ``pin.dIntegrate``."""
        s = symbols(q=self.tree.nq, v=self.tree.nv)
        by_q, by_v = integrate_derivatives(self.tree, s["v"])
        return function("integrate_derivatives", s, {"dq_dq": by_q, "dq_dv": by_v})

    @cached_property
    def difference_derivatives(self) -> ca.Function:
        """(q0, q1) → (dv_dq0, dv_dq1), nv × nv each, in the tangent spaces of q0 and q1; equals ``pin.dDifference``."""
        s = symbols(q0=self.tree.nq, q1=self.tree.nq)

        by_q0 = self._slope(lambda d: difference(self.tree, integrate(self.tree, s["q0"], d), s["q1"]))
        by_q1 = self._slope(lambda d: difference(self.tree, s["q0"], integrate(self.tree, s["q1"], d)))
        return function("difference_derivatives", s, {"dv_dq0": by_q0, "dv_dq1": by_q1})

    @cached_property
    def normalize(self) -> ca.Function:
        """(q) → (q_unit), nq: with quaternions, and cosines and sines, of unit length; equals ``pin.normalize``."""
        s = symbols(q=self.tree.nq)
        return function("normalize", s, {"q_unit": unit_and_scale(s["q"], unit_blocks(self.tree))[0]})

    def _slope(self, moved: Callable[[ca.SX], Matrix]) -> Matrix:
        """The derivative of a velocity by a small one, at zero."""
        d = ca.SX.sym("d", self.tree.nv)
        return ca.substitute(ca.jacobian(moved(d), d), d, ca.DM.zeros(self.tree.nv))

    def _of_robot(self, expression: Callable[..., Any], outputs: str | tuple[str, ...], *inputs: str) -> ca.Function:
        s = self.symbols(*inputs)
        value = expression(self.tree, *(s[name] for name in inputs))
        return function(expression.__name__, s, _named(outputs, value))

    def _function(
        self,
        expression: Callable[..., Any],
        frame: str | int,
        reference: pin.ReferenceFrame,
        outputs: str | tuple[str, ...],
        *inputs: str,
    ) -> ca.Function:
        index = self._frame(frame)
        check_reference(reference)
        name = f"frame_{expression.__name__}"
        key = name, index, reference
        if key not in self._functions:
            s = self.symbols(*inputs)
            value = expression(self.tree, self.tree.frames[index], reference, *(s[name] for name in inputs))
            self._functions[key] = function(name, s, _named(outputs, value))
        return self._functions[key]

    def symbols(self, *names: str) -> dict[str, ca.SX]:
        """The inputs of a Function by name, nq long for ``q`` and nv long for any other; p last."""
        return (
            symbols(**{name: self.tree.nq if name == "q" else self.tree.nv for name in names}) | self.parameters.inputs
        )


def _named(outputs: str | tuple[str, ...], values: Any) -> dict[str, Matrix]:
    """One output, or several, by name."""
    return {outputs: values} if isinstance(outputs, str) else dict(zip(outputs, values, strict=True))
