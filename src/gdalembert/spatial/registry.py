"""Functions that users register by name, as transcriptions and solvers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gdalembert.errors import ArgumentError, ArgumentTypeError, shown

Made = TypeVar("Made", bound=Callable[..., Any])
Registered = TypeVar("Registered", bound=Callable[..., Any])


class Registry(dict[str, Made]):
    """A registry of functions by name.

    Args:
        kind: of what they make, for messages.
        names: of their arguments. ``examples``: of these, with which it is tried whether a function takes so many.
    """

    def __init__(self, kind: str, names: Sequence[str], examples: Sequence[Any]) -> None:
        super().__init__()
        self._kind, self._names, self._examples = kind, ", ".join(names), examples

    def register(self, name: str) -> Callable[[Registered], Registered]:
        """Decorator that registers a function, or the same once more.

        Raises:
            ArgumentTypeError: if the name is no text, or what is decorated no function of these arguments.
            ArgumentError: if another function has the name.
        """
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"{self._kind}: got {shown(name)}; give its name, as @{self._kind}('mine')")

        def register(make: Registered) -> Registered:
            entry = f"{self._kind} {name!r}"
            if not callable(make):
                raise ArgumentTypeError(f"{entry}: got {shown(make)}; give a function of ({self._names})")
            self._check_arguments(entry, make)
            if _defined_at(taken := self.get(name, make)) != _defined_at(make):
                raise ArgumentError(f"{entry}: {_defined_at(taken)} has that name; take another")
            self[name] = make  # type: ignore[assignment]  # any function of the arguments
            return make

        return register

    def _check_arguments(self, entry: str, make: Callable[..., Any]) -> None:
        """Refuse a function that cannot be called with the arguments."""
        try:
            signature = inspect.signature(make)
        except ValueError:  # some functions in C have none
            return
        try:
            signature.bind(*self._examples)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{entry}: {_defined_at(make)}({self._names}): {error}; give a function of these"
            ) from None


def _defined_at(make: Callable[..., Any]) -> str:
    """A name of the function that stays when its module or notebook cell runs again."""
    return f"{make.__module__}.{getattr(make, '__qualname__', repr(make))}"
