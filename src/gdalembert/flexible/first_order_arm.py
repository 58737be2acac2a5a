"""FirstOrderArm: flexible arms in the first-order kinematics of their source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import casadi as ca

from gdalembert.dynamics.dynamics import Options
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.reference import book_1984
from gdalembert.spatial.algebra import Matrix


class FirstOrderArm(Arm):
    """Dynamics of a flexible arm whose stations turn by 1 + [ϑ×], which is not a rotation (Cetinkunt and Book 1988).

    tau by the recursion of 4 × 4 matrices (Book 1984), and all else by its derivatives. Arguments, Functions and errors
    are those of :class:`~gdalembert.FlexibleArm`. Joints are revolute or prismatic, links do not shorten, and
    constants of the robot are numbers; stiffness, damping, springs and friction may be parameters.

    Raises:
        UnsupportedError: if a joint is neither revolute nor prismatic; for parameters of the tree.
        ArgumentError: if a link shortens.
    """

    kinematics: ClassVar[str] = "first_order"

    def _completed(self, links: Mapping[str, FlexibleLink]) -> Mapping[str, FlexibleLink]:
        return {name: straight(link) for name, link in links.items()} if isinstance(links, Mapping) else links

    def _set_up_arm(self, assembly: Assembly, options: Options) -> None:
        others = [link for link in assembly.links if not (link.type.is_revolute or link.type.is_prismatic)]
        if others:
            raise UnsupportedError(
                f"joint {others[0].name!r}: first-order kinematics take revolute and prismatic joints only, not a "
                f"{others[0].type.kind}; take FlexibleArm"
            )
        if any(link.inertia.shortening.any() for link in assembly.links):
            raise ArgumentError(
                "first-order kinematics lengthen what foreshortening shortens; drop foreshortening=True"
            )
        super()._set_up_arm(assembly, options)
        if self.tree is not self.nominal:
            raise UnsupportedError(
                "parameters: first-order kinematics take inertia, payload, armature and gravity as numbers; take "
                "FlexibleArm"
            )

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        tau = book_1984.inverse_dynamics(self.assembly.links, self.assembly.gravity, q, v, a, exact=False)
        rotors = ca.DM(self.tree.nv - tau.shape[0], 1)
        return ca.vertcat(tau, rotors) + self.wrench_torque_expression(q, wrenches)

    def nle_expression(self, q: Matrix, v: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return self.inverse_dynamics_expression(q, v, ca.DM(self.tree.nv, 1), wrenches)


def straight(link: FlexibleLink) -> FlexibleLink:
    """The link without foreshortening, unless it says otherwise."""
    if isinstance(link, FlexibleLink) and link.foreshortening is None:
        return replace(link, foreshortening=False)
    return link
