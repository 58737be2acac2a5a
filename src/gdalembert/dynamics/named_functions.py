"""The Functions of a robot by the names that people ask for: of its dynamics, of its frames, by letters.

``"mass_matrix"`` and ``"M"`` are the same; ``"frame_placement:tool0"`` and ``"frame_jacobian:tool0:LOCAL"`` are those
of :class:`~gdalembert.Kinematics`, with the constants and the parameters of the robot.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.wrenches import REFERENCES
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.spatial.source_text import identifier

LETTERS = {
    "M": "mass_matrix",
    "Minv": "mass_matrix_inverse",
    "C": "coriolis_matrix",
    "g": "generalized_gravity",
    "tau": "inverse_dynamics",
    "K": "stiffness",
    "D_d": "damping",
}
"""The Function that a letter stands for, where no term of the formulation has it."""
OF_FRAMES = (
    "frame_placement",
    "frame_jacobian",
    "frame_jacobian_rate",
    "frame_velocity",
    "frame_acceleration",
    "frame_classical_acceleration",
)
"""Functions of a frame, whose name follows after a colon; all but the first are in a reference, which follows it."""
OF_ROBOT = ("center_of_mass", "center_of_mass_jacobian", "centroidal_map", "centroidal_momentum")
"""Functions of the whole robot that :class:`~gdalembert.Kinematics` has."""
KINEMATIC = (*OF_FRAMES, *OF_ROBOT)
_REFERENCES = {reference.name: reference for reference in REFERENCES}


@dataclass(frozen=True)
class NamedFunction:
    """A Function by its name, the frame and the reference that it is of.

    Attributes:
        of: a member of a formulation or of ``Kinematics``.
        frame, reference: names; empty where there are none.
    """

    of: str
    frame: str = ""
    reference: str = ""

    @classmethod
    def read(cls, name: str) -> NamedFunction:
        """``"frame_jacobian:tool0:LOCAL"``; the name of a frame may have colons."""
        of, _, frame = name.partition(":")
        if of not in OF_FRAMES:
            return cls(LETTERS.get(name, name))
        before, colon, last = frame.rpartition(":")
        return cls(of, before, last) if colon and last in _REFERENCES else cls(of, frame)

    @property
    def is_kinematic(self) -> bool:
        """True if it is one of ``Kinematics``, the same in every formulation."""
        return self.of in KINEMATIC

    @property
    def label(self) -> str:
        """Name in code, an identifier: ``frame_jacobian_tool0_LOCAL``."""
        return "_".join(filter(None, (self.of, self.frame and identifier(self.frame), self.reference)))

    def function(self, dynamics: Dynamics) -> ca.Function:
        """The Function, of the constants and the parameters of a robot.

        Raises:
            UnknownNameError: if there is no such frame.
            ArgumentError: if a frame or a reference is missing, or one too much.
        """
        if not self.is_kinematic:
            whole: ca.Function = getattr(dynamics, self.of)
            return whole
        kinematics = Kinematics.of(dynamics.parameters)
        if self.of in OF_ROBOT:
            of_robot: ca.Function = getattr(kinematics, self.of)
            return of_robot
        frames = dict.fromkeys(frame.name for frame in kinematics.tree.frames)
        example = f"{self.of}:{next(reversed(frames), 'tool0')}"
        if not self.frame:
            text = "" if self.of == "frame_placement" else f":{' or '.join(_REFERENCES)}"
            raise ArgumentError(f"{self.of}: is that of a frame; name it, as {example}{text}")
        if self.frame not in frames:
            before, _, last = self.frame.rpartition(":")
            unknown = ("reference", last, _REFERENCES) if before in frames else ("frame", self.frame, frames)
            raise UnknownNameError(*unknown)
        if self.of == "frame_placement":
            if self.reference:
                raise ArgumentError(f"{self.of}: {self.reference}: a placement is in the universe; leave it out")
            return kinematics.frame_placement(self.frame)
        if not self.reference:
            raise ArgumentError(f"{self.of}:{self.frame}: say in which reference, as {example}:LOCAL, or {_OTHERS}")
        in_reference: ca.Function = getattr(kinematics, self.of)(self.frame, _REFERENCES[self.reference])
        return in_reference


_OTHERS = " or ".join(name for name in _REFERENCES if name != "LOCAL")
