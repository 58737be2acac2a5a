"""What is asked of a flexible robot beside its motion: its modes, how it deflects, and how far it is right."""

from __future__ import annotations

from abc import ABC
from functools import cached_property

import casadi as ca
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.model_validity import Validity, indicators, validity
from gdalembert.flexible.participation import Participation, participation
from gdalembert.flexible.static_deflection import static_deflection
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.spatial.arrays import Array


class ArmAnalysis(Dynamics, ABC):
    """The analysis of a flexible arm; a part of :class:`~gdalembert.FlexibleArm`.

    Attributes:
        assembly: the description of the robot.
    """

    nominal: FlexibleTree
    assembly: Assembly

    @property
    def modes(self) -> range:
        """The entries of v that are modal coordinates."""
        joints = sum(link.type.nv for link in self.assembly.links)
        return range(joints, self.tree.nv - len(self.assembly.rotors))

    def modes_of(self, link: str) -> range:
        """The entries of v that are the modal coordinates of a flexible link, in the order y, z, extension, torsion.

        Raises:
            UnknownNameError: if there is no such flexible link.
        """
        if link not in self.assembly.beams:
            raise UnknownNameError("flexible link", link, self.assembly.beams)
        return self.assembly.links[self.assembly.beams[link].link].mode_columns

    @cached_property
    def _kinematics(self) -> Kinematics:
        return Kinematics(self.nominal, clean=0)

    def participation(self, q: npt.ArrayLike, frame: str | None = None, *, p: Values = None) -> Participation:
        """What each natural mode of the arm at q carries, all joints locked: parts of inertia and of static deflection.

        Args:
            q: a configuration (nq).
            frame: where forces deflect the arm; by default the tip of the last flexible link.
            p: values of the parameters, all or some by name; by default those of the model.

        Raises:
            ArgumentError: if q is not a configuration, nothing is flexible, or an arm without flexible links is not
                given a frame.
            UnknownNameError: if there is no such frame.
        """
        if self.modes.start == self.tree.nv:
            raise ArgumentError(f"participation: {self.tree.name} has no flexible links or joints; give it some")
        if frame is None:
            if not self.assembly.beams:
                raise ArgumentError(f"participation: {self.tree.name} has no flexible links; give a frame")
            frame = list(self.assembly.beams.values())[-1].tip
        return participation(self, self.nominal, q, frame, p)

    def validity(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        a: npt.ArrayLike | None = None,
        *,
        u: npt.ArrayLike | None = None,
        p: Values = None,
    ) -> dict[str, Validity]:
        """How far a motion strains the assumptions of each flexible link, by name; ``.warnings`` list large indicators.

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
        return validity(robot, robot.assembly, robot.indicators, q, v, a, u)

    @cached_property
    def indicators(self) -> ca.Function:
        """(q, v, a) → (slope, spin, load) of each flexible link, in rad, rad/s, N; the basis of :meth:`validity`.

        Parameters have the values of the model.
        """
        return indicators(self.nominal, self.assembly)

    def static_deflection(
        self,
        q: npt.ArrayLike,
        frame: str | None = None,
        wrench: npt.ArrayLike | None = None,
        *,
        reference: pin.ReferenceFrame | None = None,
        p: Values = None,
    ) -> Array:
        """The configuration at rest with the joints held at q: modes and rotors are solved for.

        Constant wrenches of ``arm.under(wrenches)`` act too; those that are an input are zero.

        Args:
            q: a configuration (nq): the joints are held, the modes and rotors are the initial guess. Or that of the
                joints alone: the guess is zero.
            frame, wrench: a frame and the wrench (force; moment) [N, N m] that acts on it.
            reference: frame of the wrench, to be given with it, as in :func:`~gdalembert.joint_torques`.
                In ``pin.LOCAL`` the wrench turns with the frame as the beams bend; in ``pin.LOCAL_WORLD_ALIGNED`` it
                keeps its direction, like a weight.
            p: values of the parameters, all or some by name; by default those of the model.

        Raises:
            ArgumentError: if q or the wrench has a wrong length, the wrench bends a link in a direction in which it got
                no modes by default, or if Newton's method finds no stable equilibrium from q, for example because a
                beam buckles.
        """
        return static_deflection(self.at(p), self.nominal, self.assembly, q, frame, wrench, reference)
