"""Errors and warnings: every message says where, what, which number, and what to do.

Each class derives from :class:`GdalembertError` and from the builtin that fits, and carries its data as attributes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_SHOWN = 80
"""Number of characters of a text that messages show."""


def shortened(text: str, length: int = _SHOWN) -> str:
    """A text as messages show it: cut if it is long."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def shown(value: object) -> str:
    """Value as messages show it: as Python writes it, on one line, and cut if it is long."""
    try:
        return shortened(" ".join(repr(value).split()))
    except Exception:  # an integer of thousands of digits, or a class with its own ``__repr__``
        return f"a value of type {type(value).__name__}"


def quoted(text: object) -> str:
    """Text as messages show it: in quotes, and cut if it is long."""
    return repr(shortened(str(text)))


def reason_of(error: BaseException) -> str:
    """The last line of what an exception says, or its name if it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


class GdalembertError(Exception):
    """Base of every error that gdalembert raises on purpose."""


class ModelError(GdalembertError, ValueError):
    """A model, or a part of it, that no formulation can treat rightly."""


class FileError(ModelError):
    """A robot's file that is refused.

    Attributes:
        source: name of the file, or ``"<text>"``.
        element: the element at fault, as ``"joint 'elbow'"``; ``None`` if it is the file as a whole.
        reason: what is wrong with it and what to do.
    """

    def __init__(self, source: str, element: str | None, reason: str) -> None:
        self.source = source
        self.element = element
        self.reason = reason
        super().__init__(": ".join(part for part in (source, element, reason) if part))

    def __reduce__(self) -> tuple[type[FileError], tuple[str, str | None, str]]:
        return type(self), (self.source, self.element, self.reason)


class UrdfError(FileError):
    """A URDF that is refused."""


class MjcfError(FileError):
    """An MJCF file that is refused, or that says what no ``pin.Model`` can hold."""


class FileWarning(UserWarning):
    """A robot's file that can be loaded, and what its reader should know."""


class UrdfWarning(FileWarning):
    """A URDF that can be loaded but is probably not what its author meant."""


class MjcfWarning(FileWarning):
    """Parts of an MJCF file that are no part of a ``pin.Model``, with the line to write for them."""


class CleaningWarning(UserWarning):
    """Cleaning that changes the dynamics of a robot by more than rounding."""


class BeamWarning(UserWarning):
    """A beam that differs from the body that it replaces, or of which beam theory or its modes say little."""


class TipWarning(UserWarning):
    """Modes that leave the tip of a flexible link where it is."""


class IdentificationWarning(UserWarning):
    """Parameters of a fit that are not to be trusted as they are."""


class CalibrationWarning(UserWarning):
    """Placements of a calibration that are not to be trusted as they are."""


class EstimationWarning(UserWarning):
    """An estimate that is not to be trusted as it is."""


class DistanceWarning(UserWarning):
    """Pairs of shapes that touch in all configurations."""


class SimulationWarning(UserWarning):
    """A motion whose energies do not balance."""


class SolutionWarning(UserWarning):
    """A solution that may be invalid: too coarse, not physical, inconsistent, or the previous one."""


class ArgumentError(GdalembertError, ValueError):
    """An argument of the right type with a value that cannot be used."""


class ArgumentTypeError(GdalembertError, TypeError):
    """An argument of the wrong type."""


class UnsupportedError(GdalembertError, NotImplementedError):
    """A request that has a meaning, but not one this object can compute."""


class MissingPackageError(ModuleNotFoundError, UnsupportedError):
    """A package that is not installed, and that only a part of gdalembert needs.

    Attributes:
        where: what needs it.
        name: of the package.
        extra: of gdalembert, which installs it.
    """

    def __init__(self, where: str, name: str, extra: str) -> None:
        self.where = where
        self.extra = extra
        super().__init__(f'{where} needs {name}: pip install "gdalembert[{extra}]"', name=name)

    def __reduce__(self) -> tuple[type[MissingPackageError], tuple[str, str | None, str]]:
        return MissingPackageError, (self.where, self.name, self.extra)


class UnknownNameError(GdalembertError, LookupError):
    """A name that is not there.

    Attributes:
        kind: what was looked for, as ``"frame"``.
        name: the name that was given.
        known: the names there are.
        reason: why there is none, or "".
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], reason: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.reason = reason
        folded = {each.casefold(): each for each in reversed(self.known)}
        near = [folded[key] for key in difflib.get_close_matches(str(name).casefold(), folded, n=3, cutoff=0.6)]
        shown = near or self.known[:8]
        rest = "" if near or len(self.known) <= len(shown) else ", …"
        hint = f"{'nearest' if near else 'known'}: {', '.join(map(repr, shown))}{rest}" if shown else "there are none"
        super().__init__(f"no {kind} named {quoted(name)}{reason and f': {reason}'}; {hint}")

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, tuple[str, ...], str]]:
        return UnknownNameError, (self.kind, self.name, self.known, self.reason)


class ValidationError(GdalembertError, AssertionError):
    """A formulation that does not agree with Pinocchio, or breaks a law; carries the ``report``."""

    def __init__(self, report: object) -> None:
        self.report = report
        super().__init__(str(report))

    def __reduce__(self) -> tuple[type[ValidationError], tuple[object]]:
        return ValidationError, (self.report,)


class CompilationError(GdalembertError, RuntimeError):
    """A Function that cannot be compiled on this machine.

    Attributes:
        name: of the Function.
        reason: what is missing or went wrong, and what to do.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{name}: {reason}")

    def __reduce__(self) -> tuple[type[CompilationError], tuple[str, str]]:
        return CompilationError, (self.name, self.reason)


class SimulationError(GdalembertError, RuntimeError):
    """An integration that failed before its end.

    Attributes:
        t: the last output time before the failure [s].
        result: the :class:`~gdalembert.simulation.Simulation` up to this time.
    """

    def __init__(self, message: str, t: float, result: Any) -> None:
        self.t = t
        self.result = result
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, float, Any]]:
        return SimulationError, (str(self), self.t, self.result)


class OptimizationError(GdalembertError, RuntimeError):
    """An optimal control problem that a solver did not solve.

    Attributes:
        solution: the last iterate of the solver, of the kind that a solve returns.
    """

    def __init__(self, message: str, solution: Any) -> None:
        self.solution = solution
        super().__init__(message)

    def __reduce__(self) -> tuple[type[OptimizationError], tuple[str, Any]]:
        return OptimizationError, (str(self), self.solution)


class IdentificationError(GdalembertError, RuntimeError):
    """A fit that the solver could not finish."""


class EstimationError(GdalembertError, RuntimeError):
    """A step of an estimator that is not finite."""


class ExcitationError(GdalembertError, RuntimeError):
    """No motion within all limits was found."""
