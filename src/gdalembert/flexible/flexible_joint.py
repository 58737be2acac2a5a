"""A flexible joint: a spring between the rotor and the link (Cetinkunt and Book 1988, CB40–CB46)."""

from __future__ import annotations

from dataclasses import dataclass

from gdalembert.spatial.arguments import number


@dataclass(frozen=True)
class FlexibleJoint:
    """Torsional (for a prismatic joint: linear) spring and damper between a rotor and the joint.

    The rotor has its own coordinate, on the joint's side of the gear. Its kinetic energy depends on its own rate only,
    as in the paper (terms of the order of the gear ratio are neglected).

    Args:
        stiffness: K_t, N m/rad or N/m.
        rotor_inertia: reflected through the gear, kg m² or kg; by default the armature of the model's joint, which
            then belongs to the rotor and no longer to the joint.
        damping: D_t, N m s/rad or N s/m.

    Raises:
        ArgumentTypeError: if an argument is not a number.
        ArgumentError: if an argument is negative, or if the stiffness or the rotor inertia is zero.
    """

    stiffness: float
    rotor_inertia: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        number("FlexibleJoint: stiffness", self.stiffness, "N m/rad or N/m")
        number("FlexibleJoint: damping", self.damping, "N m s/rad or N s/m", inclusive=True)
        if self.rotor_inertia is not None:
            number("FlexibleJoint: rotor_inertia", self.rotor_inertia, "kg m² or kg")
