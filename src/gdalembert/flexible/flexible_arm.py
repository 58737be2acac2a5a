"""FlexibleArm: a robot with flexible links and joints, behind the interface of a rigid one.

    M(q) a + C(q, v) v + g(q) + K q + D v = tau = B u

q: joints, then modal coordinates link by link, then rotors. M, C, g by the recursion of
:mod:`gdalembert.dynamics.newton_euler`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, Unpack

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.actuation import Actuation, actuators_of
from gdalembert.dynamics.dynamics import Dynamics, Options
from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.forces.friction import FrictionOfJoints
from gdalembert.dynamics.forces.springs import SpringsByJoint
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.parameters.parameters import Given
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler, RecursiveNewtonEuler
from gdalembert.dynamics.sources import Source
from gdalembert.dynamics.wrenches import WrenchesByFrame
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.flexible.arm_analysis import ArmAnalysis
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.attach import Replacement
from gdalembert.flexible.beams.modal_mass import dependent
from gdalembert.flexible.choices import assembled
from gdalembert.flexible.elastic_forces import Stiffness, elastic_forces
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.reference import book_1984, cetinkunt_book_1988
from gdalembert.flexible.tree import FlexibleTree, flexible_tree, regrouped
from gdalembert.model.configuration import random_configuration
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function

_SINGULAR = 1e-14
"""Relative: the rounding error that remains of an inertia that is zero."""


class Arm(ArmAnalysis):
    """What arms share, whatever their kinematics; arguments, attributes and errors as of :class:`FlexibleArm`."""

    sources: ClassVar[tuple[Source, ...]] = (book_1984.SOURCE, cetinkunt_book_1988.SOURCE)
    tree: FlexibleTree
    kinematics: ClassVar[str]
    links: Mapping[str, FlexibleLink] | None

    def __init__(
        self,
        model: pin.Model | Tree,
        links: Mapping[str, FlexibleLink] | None = None,
        joints: Mapping[str, FlexibleJoint] | None = None,
        *,
        fixed_bodies: Mapping[str, pin.Inertia] | None = None,
        clean: float = CLEANED,
        springs: SpringsByJoint | None = None,
        friction: FrictionOfJoints | None = None,
        forces: Sequence[Force] | None = None,
        actuation: Actuation | None = None,
        parameters: Given | None = None,
        wrenches: WrenchesByFrame | None = None,
    ) -> None:
        super().__init__(model, clean=clean)
        if not self.tree.is_numeric:
            raise UnsupportedError(
                f"{self.tree.name}: its constants are formulas, and links are made flexible in numbers; give a "
                "pin.Model, and parameters for what varies"
            )
        links, joints = {} if links is None else links, {} if joints is None else joints
        fixed_bodies = {} if fixed_bodies is None else fixed_bodies
        assembly, links = assembled(self.nominal, self._completed(links), joints, fixed_bodies, wrenches)
        options = Options(
            springs=springs,
            friction=friction,
            forces=forces,
            actuation=actuation,
            parameters=parameters,
            wrenches=wrenches,
        )
        self._set_up_arm(assembly, options)
        self.links = MappingProxyType(dict(links))

    def _completed(self, links: Mapping[str, FlexibleLink]) -> Mapping[str, FlexibleLink]:
        """The links with what they leave to their arm, but for their modes."""
        return links

    def _set_up_arm(self, assembly: Assembly, options: Options) -> None:
        self.assembly = assembly
        self.nominal = flexible_tree(assembly, exact=self.kinematics == "exact")
        self._set_up(options, elastic_forces(self.nominal, assembly))
        self._given_actuation = actuation = options.get("actuation")
        self.actuators = actuators_of(self.nominal, actuation, assembly.actuation)
        if assembly.beams:
            self._check_mass_matrix()

    @property
    def elasticity(self) -> Stiffness:
        """The force element of K."""
        return next(force for force in self.forces if isinstance(force, Stiffness))

    def _check_mass_matrix(self) -> None:
        """Refuse coordinates that move no inertia of their own in the undeformed arm."""
        q = random_configuration(self.tree, np.random.default_rng(0)).full().ravel()
        behind = self.tree.nq - self.tree.nv
        q[self.modes.start + behind : self.modes.stop + behind] = 0
        m = ca.DM(mass_matrix(regrouped(self.nominal), ca.DM(q))).full() + np.diag(self.nominal.armature)
        # with shapes that are orthogonal in K_f: the given ones may be nearly dependent
        f = slice(self.modes.start, self.modes.stop)
        shapes = np.eye(self.tree.nv)
        shapes[f, f] = np.linalg.inv(np.linalg.cholesky(self.stiffness_matrix[f, f])).T
        if (j := dependent(shapes.T @ m @ shapes, _SINGULAR)) is not None:
            raise ArgumentError(
                f"{self.tree.name}: {self.layout[j]!r} moves no inertia of its own, so that the mass matrix is "
                "singular; a beam that twists, or turns about itself, needs a section_inertia, or an inertia or "
                "armature of what it carries"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is not None:
            return super().__reduce__()
        return partial(_restored, type(self), **self._arguments), (self._given, self.assembly)

    @property
    def layout(self) -> tuple[str, ...]:
        return self.assembly.layout

    @property
    def replacements(self) -> tuple[Replacement, ...]:
        return self.assembly.replacements

    @property
    def stiffness_matrix(self) -> Array:
        return self.assembly.stiffness

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v: :attr:`layout`."""
        return self.layout

    @property
    def driven_names(self) -> tuple[str, ...]:
        """What an actuator drives by each entry of tau: that coordinate; by a rotor, its joint."""
        rotors = self.assembly.rotors
        return (*self.layout[: self.tree.nv - len(rotors)], *rotors)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        for joint in self.tree.joints:
            if joint.type.has_quasi_velocities:
                raise UnsupportedError(
                    f"joint {joint.name!r}: no Coriolis matrix of a flexible robot with a {joint.type.kind} "
                    "joint, where v is not dq/dt; nle holds C v"
                )
        s_v = ca.SX.sym("v", self.tree.nv)
        product = self.nle_expression(q, s_v)
        return ca.substitute(0.5 * ca.jtimes(product, s_v, ca.DM.eye(self.tree.nv), True).T, s_v, v)

    @cached_property
    def change_in_tau(self) -> float:
        """The change that cleaning makes in tau of the rigid robot; beams and springs are not cleaned."""
        return NewtonEuler(self._given, clean=self.clean).change_in_tau

    def tip_placement(self, link: str) -> ca.Function:
        """(q) → (T), 4 × 4: the tip frame of a flexible link in the universe, undeformed with the clamped frame's axes.

        ``Kinematics(arm.tree)`` has the same frame under the name ``"<link> tip"``, and the clamped frame under
        ``"<link> root"``; if the model has a frame of that name, under ``"<link> tip of the beam"``.

        Raises:
            UnknownNameError: if there is no such flexible link.
        """
        if link not in self.assembly.beams:
            raise UnknownNameError("flexible link", link, self.assembly.beams)
        return self._kinematics.frame_placement(self.assembly.beams[link].tip)

    def _require_regular_mass_matrix(self) -> None:
        """It is regular: every mode and every rotor has inertia of its own."""

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
        parts = {
            "m_r": m[r, r],
            "m_rf": m[r, f],
            "m_f": m[f, f],
            "C_1": velocity[r],
            "C_2": velocity[f],
            "G_1": gravity[r],
            "G_2": gravity[f],
            "K_f": self.elasticity.matrix[f, f],
        }
        return function("terms", s, parts)


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
        joints: the flexible joints, by name.
        fixed_bodies: the inertia of bodies that are fixed to a flexible link, by the name of their body frame and in
            that frame; needed only where a model made by hand does not tell them from the link's own body.
        clean, springs, friction, forces: as in :class:`~gdalembert.Dynamics`.
        parameters: as in :class:`~gdalembert.Dynamics`, without ``"base"``; ``"inertia"`` of rigid links only; and
            ``"stiffness"`` and ``"damping"``, factors on those of each flexible link and joint, 1 in the model.
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
        return (regrouped(self.tree),)

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        return Dynamics.generalized_gravity_expression(self, q)

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return Dynamics.kinetic_energy_expression(self, q, v)


def require_flexible_arm(where: str, arm: object, expected: str = "FlexibleArm") -> Arm:
    """The argument, if it is an arm with flexible links or joints.

    Raises:
        ArgumentTypeError: if it is not.
    """
    if not isinstance(arm, Arm):
        raise ArgumentTypeError(f"{where}: expected a {expected}, got {type(arm).__name__}")
    return arm


def _restored(kind: type[Arm], given: Tree, assembly: Assembly, **options: Unpack[Options]) -> Arm:
    """An arm from its pickled parts."""
    arm = kind.__new__(kind)
    Dynamics.__init__(arm, given, clean=options["clean"])
    arm._set_up_arm(assembly, options)
    arm.links = None
    return arm
