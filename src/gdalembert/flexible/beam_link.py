"""A link that is a beam: where the beam stands, what is attached to it, and its damping."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.beams.modal_integrals import eigenmodes_of
from gdalembert.flexible.station import check_body
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arguments import checked_transform, number
from gdalembert.spatial.arrays import Array, frozen

Where: TypeAlias = str | float
"""``"root"``, ``"tip"``, or an abscissa [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BeamLink(ABC):
    """What all links have that are beams.

    Attributes:
        to: the name of the child joint or frame to which the beam runs; ``None``: the only child joint.
        root: the clamped frame in the link frame, 4 × 4 or a ``pin.SE3``, x along the beam; a beam without a length
            then ends at the abscissa of ``to`` or of the child joint, whatever its offset from x. ``None``: at the link
            frame, x towards the end of the beam.
        children: where joints and frames on the link are attached, by name: ``"root"``, ``"tip"`` or an abscissa [m];
            with nodes, at the nearest one. A joint or frame with an offset from the beam is rigidly fixed to it. The
            arm places names that are left out; a child joint beyond the tip must not be left out.
        hub: a ``pin.Inertia`` fixed to the clamped frame, given in that frame.
        keep_body: whether the link's own body stays as a rigid hub at the root, beside the beam: a motor's housing.
        tip_body: a ``pin.Inertia`` fixed to the tip, given in the tip frame.
        modal_damping: damping ratios ζ of the modes of the bare clamped link: one for all, or one for each, from the
            lowest frequency up.
        rayleigh: (α [1/s], β [s]): α M_ff + β K_f of the bare clamped link.
    """

    to: str | None = None
    root: Any = None
    children: Mapping[str, Where] = field(default_factory=dict)
    hub: pin.Inertia | None = None
    keep_body: bool = False
    tip_body: pin.Inertia | None = None
    modal_damping: float | tuple[float, ...] | None = None
    rayleigh: tuple[float, float] | None = None

    @property
    @abstractmethod
    def length(self) -> float:
        """[m].

        Raises:
            ArgumentError: if the beam has none yet.
        """

    @property
    @abstractmethod
    def has_length(self) -> bool:
        """Whether the length is known; otherwise the arm gives it."""

    @property
    @abstractmethod
    def body(self) -> Array:
        """The pseudo-inertia (4 × 4) of the undeformed bare link, in the clamped frame."""

    @abstractmethod
    def with_length(self, length: float) -> Self:
        """The link with a beam of a length [m]."""

    def damping(self, mass: Array, stiffness: Array) -> Array:
        """D_f (n × n) of the modal coordinates of the bare clamped link, with M_ff and K_f; zero without damping.

        Raises:
            ArgumentError: if ``modal_damping`` is given and a mode has no inertia of its own.
        """
        if self.rayleigh is not None:
            alpha, beta = self.rayleigh
            return frozen(alpha * mass + beta * stiffness)
        if self.modal_damping is None:
            return frozen(np.zeros_like(stiffness))
        frequencies, vectors = eigenmodes_of(mass, stiffness)
        inverse = vectors.T @ mass  # Ψ⁻¹ = Ψᵀ M_ff of mass-normalised modes
        ratios = np.broadcast_to(np.asarray(self.modal_damping), len(stiffness))
        damping = inverse.T @ ((2 * ratios * frequencies)[:, None] * inverse)
        return frozen((damping + damping.T) / 2)

    def _settle(self) -> None:
        """Check the arguments, and give them the types that they have as attributes."""
        if not isinstance(self.keep_body, bool):
            raise ArgumentTypeError(f"{type(self).__name__}: keep_body: expected True or False, got {self.keep_body!r}")
        if self.to is not None and not isinstance(self.to, str):
            raise ArgumentTypeError(f"to: expected the name of a joint or frame, got {self.to!r}")
        for name in ("hub", "tip_body"):
            if (body := getattr(self, name)) is not None:
                check_body(name, body)
        if self.root is not None:
            root = checked_transform("root", self.root, expected="a pin.SE3 or 4 × 4 numbers", tolerance=1e-9)
            object.__setattr__(self, "root", root)
        object.__setattr__(self, "children", self._children())
        object.__setattr__(self, "modal_damping", self._ratios())
        object.__setattr__(self, "rayleigh", self._rayleigh())

    def _children(self) -> dict[str, Where]:
        given: Any = {} if self.children is None else self.children
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"children: expected {{name: 'root', 'tip' or an abscissa [m]}}, got {given!r}")
        for name, where in given.items():
            what = f"children[{name!r}]"
            if not isinstance(name, str):
                raise ArgumentTypeError(f"children: expected names, got {name!r}")
            if isinstance(where, str):
                if where not in ("root", "tip"):
                    raise ArgumentError(f"{what}: got {where!r}; give 'root', 'tip' or an abscissa [m]")
            elif number(what, where, "m", inclusive=True) > (self.length if self.has_length else np.inf) * (
                1 + ROUND_OFF
            ):
                raise ArgumentError(f"{what}: {where:g} m does not lie on the link, which is {self.length:g} m long")
        return dict(given)

    def _ratios(self) -> float | tuple[float, ...] | None:
        given: Any = self.modal_damping
        if given is None:
            return None
        if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str):
            return tuple(number(f"modal_damping[{k}]", z, inclusive=True) for k, z in enumerate(given))
        return number("modal_damping", given, inclusive=True)

    def _rayleigh(self) -> tuple[float, float] | None:
        given: Any = self.rayleigh
        if given is None:
            return None
        if self.modal_damping is not None:
            raise ArgumentError(f"{type(self).__name__}: got modal_damping and rayleigh; give one of them")
        if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != 2:
            raise ArgumentTypeError(f"rayleigh: got {given!r}; give (α [1/s], β [s])")
        return number("rayleigh α", given[0], "1/s", inclusive=True), number(
            "rayleigh β", given[1], "s", inclusive=True
        )


def stack_level() -> int:
    """The stack level, for a warning, of the user's line that led to it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "gdalembert",
        "dataclasses",
    ):
        frame, level = frame.f_back, level + 1
    return level
