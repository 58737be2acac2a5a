"""A flexible joint: a spring between the rotor and the link (Cetinkunt and Book 1988, CB40–CB46)."""

from __future__ import annotations

from dataclasses import dataclass

from gdalembert.spatial.arguments import number


@dataclass(frozen=True)
class FlexibleJoint:
    """Torsional (or, of a sliding joint, linear) spring and damper between a rotor and the joint.

    The rotor has a coordinate of its own, on the joint's side of the gear; its energy is that of its own rate alone, as
    in the paper (terms of the order of the gear ratio are left out).

    Args:
        stiffness: K_t, N m/rad or N/m.
        rotor_inertia: reflected through the gear, kg m² or kg; by default the armature of the model's joint, which
            then is the rotor's and no longer the joint's.
        damping: D_t, N m s/rad or N s/m.

    Raises:
        ArgumentTypeError: if one of them is no number.
        ArgumentError: if one of them is negative, or if the stiffness or the rotor's inertia is zero.
    """

    stiffness: float
    rotor_inertia: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        number("FlexibleJoint: stiffness", self.stiffness, "N m/rad or N/m")
        number("FlexibleJoint: damping", self.damping, "N m s/rad or N s/m", inclusive=True)
        if self.rotor_inertia is not None:
            number("FlexibleJoint: rotor_inertia", self.rotor_inertia, "kg m² or kg")
