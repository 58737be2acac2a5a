"""Bases of all objects: a few matrices with names, of SX, MX or numbers, made also of objects of Pinocchio.

Every method refuses SX beside MX in a sentence, and every one that needs numbers refuses symbols.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.cpin.matrices import is_constant, is_same, matrix, number_of, owned
from gdalembert.errors import ArgumentTypeError, GdalembertError, UnknownNameError, UnsupportedError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.brief import LONGEST, brief

_CLASSES: dict[type, type[SpatialObject]] = {}
"""The class here of each class of Pinocchio."""


def of_symbols(x: Any) -> Any:
    """Convert an object of Pinocchio to the object of symbols; anything else passes as it is."""
    kind = _CLASSES.get(type(x))
    # Not kind(x), since constructors convert their argument by this function.
    return x if kind is None else kind.__new__(kind)._take(*kind._parts_of(x))


class MatrixPart:
    """A matrix of an object, checked when it is set; one that was put off is made when it is first read.

    A single number is a float, which meets symbols, NumPy and formats.
    """

    def __init__(self, rows: int, columns: int = 1) -> None:
        self._shape = rows, columns

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, x: Any, owner: type | None = None) -> Any:
        if x is None:
            return self
        part = x.part(self._name)
        return float(part) if self._shape == (1, 1) and isinstance(part, ca.DM) else part

    def __set__(self, x: Any, value: Any) -> None:
        part = matrix(f"{type(x).__name__}.{self._name.strip('_')}", value, *self._shape)
        x.__dict__[self._name] = owned(part, x, self._name)  # ``matrix`` has copied it


def _refuse_a_mixture(context: str, *values: Any) -> None:
    """Refuse SX and MX among matrices and the parts of objects."""
    parts = [part for x in values for part in (vars(x).values() if isinstance(x, SpatialObject) else (x,))]
    if {ca.SX, ca.MX} <= {type(part) for part in parts}:
        raise ArgumentTypeError(f"{context}: got SX and MX, which CasADi does not mix; give symbols of one of them")


def _of_one_kind(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method so that it refuses a mixture of SX and MX in a sentence, where CasADi refuses it."""

    @wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except (TypeError, NotImplementedError) as error:
            # Asked only after CasADi has refused, so that operations which go well look at no parts.
            if not isinstance(error, GdalembertError):
                owner = self if isinstance(self, type) else type(self)
                _refuse_a_mixture(f"{owner.__name__}.{method.__name__}", self, *args, *kwargs.values())
            raise

    return checked


def filled(name: str) -> tuple[Any, Any]:
    """Make Pinocchio's static constructor of this name, and the method of ``set`` and this name."""

    def made(cls: Any) -> Any:
        return cls(getattr(cls.pin, name)())

    def fill(self: Any) -> None:
        x = self.pin()
        getattr(x, f"set{name}")()
        self.assign(x)

    made.__name__, fill.__name__ = name, f"set{name}"
    return classmethod(made), fill


class SpatialObject(ABC):
    """An object of parts that have the names of Pinocchio's class ``pin``."""

    pin: ClassVar[Any]
    _names: ClassVar[tuple[str, ...]]
    _wanted: ClassVar[str]
    _later: dict[str, Callable[[], Matrix]]

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if isinstance(method, types.FunctionType):
                setattr(cls, name, _of_one_kind(method))
            elif isinstance(method, classmethod):
                setattr(cls, name, classmethod(_of_one_kind(method.__func__)))
        if "pin" in vars(cls):
            _CLASSES[cls.pin] = cls

    def __init__(self, *args: Any, **parts: Any) -> None:
        args += tuple(parts.pop(name) for name in self._names[len(args) :] if name in parts)
        if parts:
            raise UnknownNameError(f"part of {type(self).__name__}", next(iter(parts)), self._names)
        first = of_symbols(args[0]) if args else None
        if len(args) == len(self._names) > 1:
            self._take(*args)
        elif len(args) == 1 and isinstance(first, type(self)):
            self._take(*first.parts)
        elif len(args) > 1 or isinstance(first, SpatialObject):
            self._refuse(*args)
        else:
            self._set(*args)
        _refuse_a_mixture(type(self).__name__, self)

    @classmethod
    def _parts_of(cls, x: Any) -> tuple[Any, ...]:
        """The parts of an object of Pinocchio."""
        return tuple(getattr(x, name) for name in cls._names)

    def _take(self, *parts: Any) -> Self:
        for name, part in zip(self._names, parts, strict=True):
            setattr(self, name, part)
        return self

    def _refuse(self, *args: Any) -> None:
        got = ", ".join(type(x).__name__ for x in args)
        raise ArgumentTypeError(f"{type(self).__name__}: got ({got}); give {self._wanted}")

    @abstractmethod
    def _set(self, *args: Any) -> None:
        """Read the parts of one matrix; without one, of the neutral object."""

    @property
    @abstractmethod
    def np(self) -> Matrix:
        """All parts in one matrix."""

    def part(self, name: str) -> Matrix:
        """A part as a matrix."""
        if name not in self.__dict__:
            self.__dict__[name] = self._later[name]()
        value: Matrix = self.__dict__[name]
        return value

    @property
    def parts(self) -> tuple[Matrix, ...]:
        return tuple(self.part(name) for name in self._names)

    def _values(self) -> list[Any]:
        """The parts as numbers."""
        if not all(map(is_constant, self.parts)):
            raise UnsupportedError(f"{type(self).__name__}: has symbols, which have no value yet; give numbers here")
        return list(map(number_of, self.parts))

    def numbers(self) -> Any:
        """Pinocchio's object, where all parts are numbers.

        Raises:
            UnsupportedError: if there are symbols.
        """
        return self.pin(*self._values())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        self._values()
        return np.array(number_of(self.np), dtype)

    __array_ufunc__ = None  # of a NumPy number times an object, the object decides

    def __rmul__(self, other: Any) -> Any:
        """The product, where an object of Pinocchio is on the left."""
        left = of_symbols(other)
        return left * self if type(left) in _CLASSES.values() else NotImplemented

    def __rmatmul__(self, other: Any) -> Matrix:
        return other @ self.np

    def assign(self, other: Any) -> Self:
        """Become a copy of another object."""
        return self._take(*type(self)(other).parts)

    def copy(self) -> Self:
        return type(self)(self)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def isApprox(self, other: Any, prec: float = 1e-12) -> bool:
        return bool(self.numbers().isApprox(type(self)(other).numbers(), prec))

    def __eq__(self, other: object) -> bool:
        """True of equal numbers and of the same expressions of symbols; other expressions are refused."""
        other = of_symbols(other)
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(map(is_same, self.parts, other.parts)) or bool(self.numbers() == other.numbers())

    __hash__ = object.__hash__  # by identity, as Pinocchio's: parts may be changed in place

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.parts))})"

    def __repr__(self) -> str:
        parts = zip((name.strip("_") for name in self._names), self.parts, strict=True)
        return text if len(text := str(self)) <= LONGEST else brief(self, dict(parts))


class Additive(SpatialObject):
    """An object that others of its class may be added to."""

    Zero, setZero = filled("Zero")
    Random, setRandom = filled("Random")

    def isZero(self, prec: float = 1e-12) -> bool:
        return all(map(is_constant, self.parts)) and bool(self.numbers().isZero(prec))

    @abstractmethod
    def __add__(self, other: Any) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Any) -> Self: ...

    def __radd__(self, other: Any) -> Self:
        return self.__add__(other)

    def __rsub__(self, other: Any) -> Self:
        return type(self)(other) - self

    def __iadd__(self, other: Any) -> Self:
        return self.assign(self + other)

    def __isub__(self, other: Any) -> Self:
        return self.assign(self - other)
