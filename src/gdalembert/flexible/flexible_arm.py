"""FlexibleArm: a robot with flexible links and joints, behind the interface of a rigid one.

    M(q) a + C(q, v) v + g(q) + K q + D v = tau = B u

q: joints, then springs in directions, then modal coordinates link by link, then rotors. M, C, g by the recursion of
:mod:`gdalembert.dynamics.newton_euler`. FirstOrderArm has the first-order kinematics of its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, Unpack

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.actuation import actuators_of
from gdalembert.dynamics.dynamics import HELD, Dynamics, Options
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler, RecursiveNewtonEuler
from gdalembert.dynamics.sources import Source
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError, UnknownNameError, UnsupportedError
from gdalembert.flexible.assembly import Flexibility, assemble_with_selected_modes, check_links
from gdalembert.flexible.beams.modal_integrals import dependent
from gdalembert.flexible.elastic_forces import ModalDamping, Stiffness
from gdalembert.flexible.flexible_joint import Springs
from gdalembert.flexible.flexible_link import Links
from gdalembert.flexible.model_validity import Validity, indicators, validity
from gdalembert.flexible.placed_links import strain
from gdalembert.flexible.reference import book_1984, cetinkunt_book_1988
from gdalembert.flexible.rod_resolution import RodResolution, resolutions, rod_errors
from gdalembert.flexible.static_deflection import static_deflection
from gdalembert.flexible.station import Replacement
from gdalembert.model.configuration import random_configuration
from gdalembert.model.from_pinocchio import without_inertia
from gdalembert.model.joints.deflection import Deflection, FirstOrderDeflection
from gdalembert.model.regrouping import prepare
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import choice, table
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import function

_NONE = Options(springs=None, friction=None, forces=None, actuation=None, parameters=None, wrenches=None)
"""Options that the robot with rigid links has beside ``clean``; the arm has the others."""
_SINGULAR = 1e-14
"""Relative: the rounding error that remains of an inertia that is zero."""


@dataclass(frozen=True, eq=False)
class Participation(Brief):
    """Parts of inertia and deflection that each of n natural modes carries, with motors or joints held.

    Attributes:
        frequencies: ω (n), rising [rad/s].
        coordinates: the coordinate that has most of the elastic energy of each mode.
        joints: the names of the r velocities of the joints.
        inertia: the part (n × r) of the inertia eᵀ M e that it carries as the joint accelerates, (eᵀ M ψ)² / eᵀ M e; e
            moves the joint alone, and with motors held its rotor, too. A mode of none is not excited by that joint.
            What is missing to 1 moves as on a rigid arm.
        frame: its name.
        deflection: the part (n) of the static deflection of the frame under a force there, in the mean of three
            directions. What a mode of none would add is invisible there. The sum is 1.
    """

    frequencies: Array
    coordinates: tuple[str, ...]
    joints: tuple[str, ...]
    inertia: Array
    frame: str
    deflection: Array

    def __str__(self) -> str:
        heads = ("frequency [Hz]", "mostly", *self.joints, self.frame)
        modes = zip(self.frequencies, self.coordinates, self.inertia, self.deflection, strict=True)
        rows = [
            (f"{omega / (2 * np.pi):.4g}", name, *(f"{100 * x:.2f} %" for x in (*inertia, deflection)))
            for omega, name, inertia, deflection in modes
        ]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = ("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in (heads, *rows))
        return "\n".join(lines)


class Arm(Dynamics):
    """Parts that arms share, whatever their kinematics; arguments, attributes and errors as of :class:`FlexibleArm`."""

    sources: ClassVar[tuple[Source, ...]] = (book_1984.SOURCE, cetinkunt_book_1988.SOURCE)
    kinematics: ClassVar[str]
    deflection: ClassVar[type[Deflection]] = Deflection
    links: Links | None
    nominal: Tree
    flexibility: Flexibility

    def __init__(
        self,
        model: pin.Model | Tree,
        links: Links | None = None,
        joints: Springs | None = None,
        *,
        fixed_bodies: Mapping[str, pin.Inertia] | None = None,
        **options: Unpack[Options],
    ) -> None:
        if options.get("motors") is not None:
            raise UnsupportedError(
                "FlexibleArm: motors are those of rigid robots; give joints={name: gd.FlexibleJoint(…, "
                "rotor_inertia=)}, or armature and friction of joints"
            )
        super().__init__(model, **(options | _NONE))
        if not self.tree.is_numeric:
            raise UnsupportedError(
                f"{self.tree.name}: its constants are formulas, and links are made flexible in numbers; give a "
                "pin.Model, and parameters for what varies"
            )
        links, joints = {} if links is None else links, {} if joints is None else joints
        fixed_bodies = {} if fixed_bodies is None else fixed_bodies
        check_links(links)
        if self.kinematics != "exact":
            links = {name: link.straight() for name, link in links.items()}
        arguments = links, joints, fixed_bodies, self.deflection, options.get("wrenches")
        tree, flexibility, links = assemble_with_selected_modes(self.nominal, *arguments)
        self._set_up_arm(tree, flexibility, options)
        self.links = MappingProxyType(dict(links))

    def _set_up_arm(self, tree: Tree, flexibility: Flexibility, options: Options) -> None:
        self.nominal, self.flexibility = tree, flexibility
        elastic = Stiffness(tree, flexibility.stiffness), ModalDamping(tree, flexibility.damping)
        self._set_up(options, elastic)
        self.actuators = actuators_of(tree, options.get("actuation"), flexibility.actuation)
        beams = {tree.joints[beam.link].name for beam in flexibility.links.values()}
        idle = self.parameters.idle_joints()
        if behind := [name for name in idle if name in flexibility.rotors]:
            raise ModelError(
                f"{tree.name}: {without_inertia(behind)}; rotors are behind springs and give links none; give these "
                "mass and inertia, or take the joints as rigid"
            )
        springs = [self.layout[k] for columns in flexibility.springs.values() for k in columns]
        if on_springs := [name for name in idle if name in springs]:
            raise ModelError(
                f"{tree.name}: {without_inertia(on_springs)}; give the FlexibleJoint there a body=, or leave the "
                "direction out"
            )
        if not beams.issuperset(idle):  # of beams the mass matrix tells more
            super()._require_inertia()
        if flexibility.links:
            self._check_mass_matrix()

    def _require_inertia(self) -> None:
        """Nothing of the robot with rigid links: beams give inertia."""

    @property
    def elasticity(self) -> Stiffness:
        """The force element of K."""
        return next(force for force in self.forces if isinstance(force, Stiffness))

    def _check_mass_matrix(self) -> None:
        """Refuse coordinates that move no inertia of their own in the undeformed arm."""
        q = random_configuration(self.tree, np.random.default_rng(0)).full().ravel()
        behind = self.tree.nq - self.tree.nv
        q[self.modes.start + behind : self.modes.stop + behind] = 0
        tree = self.parameters.tree_with_inertia
        m = ca.DM(mass_matrix(prepare(tree), ca.DM(q))).full() + np.diag(tree.armature)
        # with shapes that are orthogonal in K_f: the given ones may be nearly dependent
        f = slice(self.modes.start, self.modes.stop)
        shapes = np.eye(self.tree.nv)
        shapes[f, f] = np.linalg.inv(np.linalg.cholesky(self.stiffness_matrix[f, f])).T
        if (j := dependent(shapes.T @ m @ shapes, _SINGULAR)) is not None:
            raise ArgumentError(
                f"{self.tree.name}: {self.layout[j]!r} moves no inertia of its own, so that the mass matrix is "
                "singular; a beam that twists, shears, or turns about itself needs a section_inertia, or an inertia or "
                "armature of what it carries"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is not None:
            return super().__reduce__()
        return partial(_restored, type(self), **self._arguments), (self._given, self.nominal, self.flexibility)

    @property
    def rigid_tree(self) -> Tree:
        """The robot that the arm was made from, with rigid links and joints."""
        return self._given

    @property
    def layout(self) -> tuple[str, ...]:
        return self.nominal.velocity_names

    @property
    def replacements(self) -> tuple[Replacement, ...]:
        return self.flexibility.replacements

    @property
    def stiffness_matrix(self) -> Array:
        return np.asarray(ca.evalf(self._with_values(self.parameters.vector()).elasticity.matrix).full())

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v: :attr:`layout`."""
        return self.layout

    @property
    def driven_names(self) -> tuple[str, ...]:
        """Names of what an actuator drives by each entry of tau: that coordinate; by a rotor, its joint."""
        rotors = self.flexibility.rotors
        return (*self.layout[: self.tree.nv - len(rotors)], *rotors)

    @cached_property
    def change_in_tau(self) -> float:
        """The change that cleaning makes in tau of the rigid robot; beams and springs are not cleaned."""
        return NewtonEuler(self._given, clean=self.clean).change_in_tau

    def tip_placement(self, link: str) -> ca.Function:
        """(q) → (T), 4 × 4: the tip frame of a flexible link in the universe, undeformed with the clamped frame's axes.

        (q, p) → (T) where placements are parameters.

        ``Kinematics(arm.tree)`` has the same frame under the name ``"<link> tip"``, and the clamped frame under
        ``"<link> root"``; if the model has a frame of that name, under ``"<link> tip of the beam"``.

        Raises:
            UnknownNameError: if there is no such flexible link.
        """
        return self._kinematics.frame_placement(self.flexibility.link(link).tip)

    def strain(self, link: str, at: float = 0.0, *, fibre: npt.ArrayLike, links: Links | None = None) -> ca.Function:
        """(q) → (strain): what a strain gauge along a flexible link measures, positive in tension.

        The fibre at (y, z) of the section has u' − y w_y'' − z w_z'' in assumed modes, (ν + κ × r)_x less that at rest
        in a Cosserat rod. Of few modes the curvature is less exact than positions are.

        Args:
            link: the name of the flexible link.
            at: the place of the gauge, a fraction of the length of the beam: 0 at the root, 1 at the tip.
            fibre: (y, z) from the axis, in the axes of the clamped frame [m]; one number if the link bends in one plane
                alone.
            links: the dict of flexible links that the arm was made from; an arm that was pickled or copied needs it.

        Raises:
            UnknownNameError: if there is no such flexible link.
            ArgumentError: if the place does not lie on the beam, the fibre not in the section, or one number is given
                where the link bends in both planes or in none.
            UnsupportedError: if the beam is given by nodes.
        """
        return strain(self, link, at, fibre, links)

    def _require_regular_mass_matrix(self) -> None:
        """Regular M: every mode and every rotor has inertia of its own."""

    @cached_property
    def elastic_energy(self) -> ca.Function:
        """(q) → (elastic) [J]: ½ qᵀ K q of modes and flexible joints."""
        s = self.symbols("q")
        return function("elastic_energy", s, {"elastic": self.elasticity.energy(s["q"])})

    # The parts by name, and what is asked of a flexible robot.

    @cached_property
    def terms(self) -> ca.Function:
        """(q, v) → (m_r, m_rf, m_f, C_1, C_2, G_1, G_2, K_f): the equations by joints (r) and modes (f), CB37–CB38.

            [ m_r    m_rf ] [ a_r ]   [ C_1 ]   [ G_1 ]   [ 0   0  ] [ q_r ]   [ u ]
            [ m_rfᵀ  m_f  ] [ a_f ] + [ C_2 ] + [ G_2 ] + [ 0  K_f ] [ q_f ] = [ 0 ]

        C_1 and C_2 are vectors, as in the paper. Armature and rotors are not included.
        """
        s = self.symbols("q", "v")
        m, gravity = self.mass_matrix_expression(s["q"]), self.generalized_gravity_expression(s["q"])
        velocity = self.nle_expression(s["q"], s["v"]) - gravity
        r, f = slice(0, self.modes.start), slice(self.modes.start, self.modes.stop)
        inertia = {"m_r": m[r, r], "m_rf": m[r, f], "m_f": m[f, f]}
        vectors = {"C_1": velocity[r], "C_2": velocity[f], "G_1": gravity[r], "G_2": gravity[f]}
        return function("terms", s, {**inertia, **vectors, "K_f": self.elasticity.matrix[f, f]})

    # Deflection, validity, and the parts that natural modes carry, which are ours.

    @property
    def flexible_joints(self) -> tuple[Joint, ...]:
        joints = {joint.name: joint for joint in self.nominal.joints}
        return tuple(joints[name] for name in self.flexibility.rotors)

    @property
    def modes(self) -> range:
        """The entries of v that are coordinates of what gives way: springs in directions, then modes of links."""
        return range(self._given.nv, self.tree.nv - len(self.flexibility.rotors))

    def modes_of(self, link: str) -> range:
        """The entries of v that are the modal coordinates of a flexible link, in the order y, z, extension, torsion.

        Of a Cosserat rod segment by segment, strain by strain; of the joint or frame of springs, their directions.

        Raises:
            UnknownNameError: if there is no such flexible link, and no such springs.
        """
        by_name = {**self.flexibility.springs, **self.modes_by_link}
        if not isinstance(link, str) or link not in by_name:
            raise UnknownNameError("flexible link", link, by_name)
        return by_name[link]

    @property
    def modes_by_link(self) -> dict[str, range]:
        return {name: link.modes for name, link in self.flexibility.links.items()}

    @cached_property
    def _kinematics(self) -> Kinematics:
        """Kinematics of the arm in numbers, or with p where placements are parameters."""
        return Kinematics.of(self.parameters) if self.tree.has_displacements else Kinematics(self.nominal, clean=0)

    def participation(
        self, q: npt.ArrayLike, frame: str | None = None, *, joints: str | None = None, p: Values = None
    ) -> Participation:
        """Parts of inertia and of static deflection that each natural mode of the arm at q carries.

        Args:
            q: a configuration (nq), or that of the joints alone.
            frame: where forces deflect the arm; by default the tip of the last flexible link.
            joints: what is held, ``"braked"`` (the motors, the default) or ``"locked"`` (the links), as in
                :meth:`natural_frequencies`.
            p: values of the parameters, all or some by name; by default those of the model.

        Raises:
            ArgumentError: if q is not a configuration, ``joints`` is neither, nothing is flexible, or an arm without
                flexible links is not given a frame.
            UnknownNameError: if there is no such frame.
        """
        if self.modes.start == self.tree.nv:
            raise ArgumentError(f"participation: {self.tree.name} has no flexible links or joints; give it some")
        if frame is None:
            if not self.flexibility.links:
                raise ArgumentError(f"participation: {self.tree.name} has no flexible links; give a frame")
            frame = list(self.flexibility.links.values())[-1].tip
        held = choice("participation: joints", "braked" if joints is None else joints, HELD[:2])
        configuration = self.configuration("participation: q", q)
        frequencies, shapes = self.natural_modes(configuration, joints=held, p=p)
        m, r = self.at(p).mass_matrix(configuration).full(), self.modes.start
        moving = np.eye(self.tree.nv)[:, :r]  # joint by joint, as on a rigid arm
        if held == "braked":
            for rotor, joint in enumerate(self.flexible_joints, self.modes.stop):
                moving[rotor, joint.idx_v] = 1.0
        jacobian = self.at(p)._kinematics.frame_jacobian(frame, pin.LOCAL_WORLD_ALIGNED)(configuration).full()[:3]
        squares = np.sum((jacobian @ shapes / frequencies) ** 2, axis=0)
        most = (shapes * (self.force_stiffness(configuration, p) @ shapes)).argmax(axis=0)
        inertia = (moving.T @ m @ shapes) ** 2 / np.sum(moving * (m @ moving), axis=0)[:, None]
        return Participation(
            frequencies=frequencies,
            coordinates=tuple(self.coordinate_names[k] for k in most),
            joints=self.coordinate_names[:r],
            inertia=inertia.T,
            frame=frame,
            deflection=squares / max(float(squares.sum()), np.finfo(float).tiny),
        )

    def validity(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        a: npt.ArrayLike | None = None,
        *,
        u: npt.ArrayLike | None = None,
        p: Values = None,
    ) -> dict[str, Validity | RodResolution]:
        """Indicators of how far a motion strains the assumptions of each flexible link; ``.warnings`` list large ones.

        Of links in assumed modes the slope, the spin and the axial load
        (:class:`~gdalembert.flexible.model_validity.Validity`); of Cosserat rods how far the tip is off
        (:class:`~gdalembert.flexible.rod_resolution.RodResolution`).

        Args:
            q: configurations (N × nq), one row for each instant; or one (nq).
            v: velocities (N × nv); at rest without them.
            a: accelerations (N × nv); or
            u: efforts of the actuators (N × nu), from which the accelerations follow. With neither of them a = 0: only
                gravity and velocities load the beams.
            p: values of the parameters, all or some by name; by default those of the model.

        No wrenches act on the arm; give a for a motion that has them.

        Raises:
            ArgumentError: if shapes do not fit, a number is not finite, or a and u are both given.
        """
        robot = self.at(p).under()
        indicators: dict[str, Validity | RodResolution] = dict(
            validity(robot, robot.flexibility, robot.indicators, q, v, a, u)
        )
        return indicators | self._rod_resolutions(table("validity: q", q, self.tree.nq))

    def bending_warnings(self, q: Array) -> tuple[str, ...]:
        return tuple(line for resolution in self._rod_resolutions(q).values() for line in resolution.warnings)

    def _rod_resolutions(self, q: Array) -> dict[str, RodResolution]:
        return resolutions(self.flexibility, self.rod_errors, q) if self.flexibility.rods else {}

    @cached_property
    def rod_errors(self) -> ca.Function:
        """(q) → (errors): how far the tip of each Cosserat rod is off over its length; part of :meth:`validity`."""
        return rod_errors(self.nominal, self.flexibility)

    @cached_property
    def indicators(self) -> ca.Function:
        """(q, v, a) → (slope, spin, load) of each link in assumed modes, in rad, rad/s, N; part of :meth:`validity`.

        Parameters have the values of the model.
        """
        return indicators(self.nominal, self.flexibility)

    def static_deflection(
        self,
        q: npt.ArrayLike,
        frame: str | None = None,
        wrench: npt.ArrayLike | None = None,
        *,
        reference: pin.ReferenceFrame | None = None,
        hold: str | None = None,
        p: Values = None,
    ) -> Array:
        """The configuration at rest with motors or joints held at q: what bends is solved for.

        Constant wrenches of ``arm.under(wrenches)`` act too; those that are an input are zero.

        Args:
            q: a configuration (nq): what is held stays, and the rest is the initial guess. Or that of the joints alone:
                the guess is undeformed, with rotors where their joints are.
            frame, wrench: a frame and the wrench (force; moment) [N, N m] that acts on it.
            reference: frame of the wrench, to be given with it, as in :func:`~gdalembert.joint_torques`.
                In ``pin.LOCAL`` the wrench turns with the frame as the beams bend; in ``pin.LOCAL_WORLD_ALIGNED`` it
                keeps its direction, like a weight.
            hold: ``"motors"``, the default: rotors of flexible joints stay (their entries of q), as by a brake, and so
                do joints without one; the links of flexible joints (link side) give way. ``"joints"``: the links of all
                joints stay, and their rotors (motor side) follow. Without flexible joints both are the same.
            p: values of the parameters, all or some by name; by default those of the model.

        Raises:
            ArgumentError: if q or the wrench has a wrong length, ``hold`` is neither, the wrench bends a link in a
                direction in which it got no modes by default, or if Newton's method finds no stable equilibrium from
                q, for example because a beam buckles.
        """
        held = choice("static_deflection: hold", "motors" if hold is None else hold, ("motors", "joints"))
        robot = self.at(p)
        return static_deflection(robot, robot.nominal, self.flexibility, q, (frame, wrench, reference), held)


class FlexibleArm(Arm, RecursiveNewtonEuler):
    """Dynamics of a robot with flexible links, in assumed modes of bending, extension and torsion, and flexible joints.

    Cetinkunt and Book 1988, corrected and generalised to trees and spatial robots. It has all Functions
    of :class:`~gdalembert.Dynamics`, with tau nv long: ``tau = M a + nle``, ``nle = C v + g + K q + D v``;
    ``generalized_gravity`` is gravity alone; ``potential_energy`` is gravity and elastic energy; u in
    ``state_derivative`` are the actuators, tau = B u. Stations turn by the exponential of their rotation vector; in the
    first-order kinematics of the source, :class:`FirstOrderArm`.

    Args:
        model: a ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree` of one, without mimic joints; any other joint
            may move a flexible link and be attached to one.
        links: the flexible links, by the name of their body frame.
        joints: the flexible joints, by the name of a joint or, with directions, of a joint or frame; a joint may have
            one without and one with directions: ``(gear, bearing)``.
        fixed_bodies: the inertia of bodies that are fixed to a flexible link or stand on springs, by the name of their
            body frame and in that frame; needed only where a model made by hand does not tell them from the link's own
            body.
        clean, springs, friction, forces: as in :class:`~gdalembert.Dynamics`.
        parameters: as in :class:`~gdalembert.Dynamics`, without ``"base"``; ``"inertia"`` of links that are
            rigid and whole, without those of which a part stands on springs; and ``"stiffness"`` and ``"damping"``,
            factors on those of each flexible link and joint, 1 in the model.
        actuation: as of a rigid robot, in place of that of the joints and rotors.
        wrenches: as in :class:`~gdalembert.Dynamics`; frames on flexible links are there, too, as ``"<link> tip"``
            (:meth:`tip_placement`) and whatever is attached to a station.

    Attributes:
        links: the argument ``links``, read only; ``None`` if the arm was pickled or copied, since functions of the
            abscissa cannot always be. Plots and viewers then take ``links=``.
        layout: a name for each entry of v.
        replacements: what each beam replaces.
        stiffness_matrix: K (nv × nv).
        actuation: B (nv × nu), by default an actuator for each joint velocity.

    Raises:
        ArgumentError: if M is singular because a beam twists, or turns about its own axis, without inertia; and as
            :func:`~gdalembert.flexible.assembly.assemble` and :class:`~gdalembert.Dynamics`.
    """

    kinematics: ClassVar[str] = "exact"

    @cached_property
    def _prepared(self) -> tuple[Tree, ...]:
        return (prepare(self.tree),)


def require_flexible_arm(context: str, arm: object, expected: str = "FlexibleArm") -> Arm:
    """The argument, if it is an arm with flexible links or joints; otherwise refuse it."""
    if not isinstance(arm, Arm):
        raise ArgumentTypeError(f"{context}: expected a {expected}, got {type(arm).__name__}")
    return arm


def _restored(kind: type[Arm], nominal: Tree, tree: Tree, flexibility: Flexibility, **options: Unpack[Options]) -> Arm:
    """An arm from its pickled parts."""
    arm = kind.__new__(kind)
    Dynamics.__init__(arm, nominal, clean=options["clean"])
    arm._set_up_arm(tree, flexibility, options)
    arm.links = None
    return arm


class FirstOrderArm(Arm):
    """Dynamics of a flexible arm whose stations turn by 1 + [ϑ×], which is not a rotation (Cetinkunt and Book 1988).

    tau by the recursion of 4 × 4 matrices (Book 1984), and all else by its derivatives. Arguments, Functions and errors
    are those of :class:`~gdalembert.FlexibleArm`. Joints are revolute or prismatic, and links do not shorten.

    Raises:
        UnsupportedError: if a joint is neither revolute nor prismatic.
        ArgumentError: if a link shortens.
    """

    kinematics: ClassVar[str] = "first_order"
    deflection: ClassVar[type[Deflection]] = FirstOrderDeflection

    def _set_up_arm(self, tree: Tree, flexibility: Flexibility, options: Options) -> None:
        joints = [joint for joint in tree.joints if not joint.type.is_modal]
        others = [joint for joint in joints if not (joint.type.is_revolute or joint.type.is_prismatic)]
        if others:
            raise UnsupportedError(
                f"joint {others[0].name!r}: first-order kinematics take revolute and prismatic joints only, not a "
                f"{others[0].type.kind}; take FlexibleArm"
            )
        for name in flexibility.rods:
            raise UnsupportedError(f"link {name!r}: a Cosserat rod turns by exact rotations only; take FlexibleArm")
        if any(inertia.shortening.any() for inertia in tree.assumed_modes.values()):
            raise ArgumentError(
                "first-order kinematics lengthen what foreshortening shortens; drop foreshortening=True"
            )
        super()._set_up_arm(tree, flexibility, options)

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return book_1984.inverse_dynamics(self.tree, q, v, a) + self.wrench_torque_expression(q, wrenches)

    def nle_expression(self, q: Matrix, v: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return self.inverse_dynamics_expression(q, v, ca.DM(self.tree.nv, 1), wrenches)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        s_v = ca.SX.sym("v", self.tree.nv)
        product = self.nle_expression(q, s_v)
        return ca.substitute(0.5 * ca.jtimes(product, s_v, ca.DM.eye(self.tree.nv), True).T, s_v, v)
