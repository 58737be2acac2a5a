"""Names, arguments and keywords as Pinocchio has them; others are refused in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

from gdalembert.errors import ArgumentTypeError, GdalembertError, UnknownNameError

T = TypeVar("T")


class MissingAttributeError(GdalembertError, AttributeError):
    """A quantity that no algorithm has computed, where Pinocchio gives zeros; a name that is not there."""


def submodule(name: str, **functions: Any) -> ModuleType:
    """Make one of Pinocchio's submodules, as ``cpin.rpy``, of these functions."""
    module = ModuleType(f"gdalembert.cpin.{name}")

    def refuse(attribute: str) -> Any:
        raise MissingAttributeError(str(UnknownNameError(f"function of cpin.{name}", attribute, functions)))

    vars(module).update(functions, __getattr__=refuse)
    return module


def taken(context: str, call: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a call of Pinocchio, whose refusal of arguments becomes one sentence."""
    try:
        return call(*args)
    except (TypeError, ValueError):
        # The text of the refusal itself is a list of C++ signatures.
        kinds = ", ".join(type(x).__name__ for x in args)
        raise ArgumentTypeError(f"{context}: Pinocchio does not take ({kinds}) with these shapes and values") from None


def synonyms(**names: str) -> Callable[[T], T]:
    """Decorate a function that :func:`refusing` wraps with other keywords of its parameters, by these."""

    def with_synonyms(function: T) -> T:
        vars(function)["synonyms"] = names
        return function

    return with_synonyms


def refusing(function: Callable[..., Any], **kinds: tuple[type, str]) -> Callable[..., Any]:
    """Wrap a function so that it refuses arguments of these names that are of no such kind, and says what to give."""
    parameters = inspect.signature(function)
    signature = parameters.parameters.values()
    known_as: dict[str, str] = getattr(function, "synonyms", {})

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = parameters.bind(*args, **{known_as.get(name, name): x for name, x in kwargs.items()})
        except TypeError as error:
            names = ", ".join(
                "…" if x.kind == x.VAR_POSITIONAL else x.name for x in signature if x.kind != x.VAR_KEYWORD
            )
            raise ArgumentTypeError(f"{function.__name__}: {error}; give ({names})") from None
        for name, (kind, wanted) in kinds.items():
            if name not in bound.arguments:
                continue
            value = bound.arguments[name]
            if not (isinstance(value, kind) or value is parameters.parameters[name].default):
                raise ArgumentTypeError(f"{function.__name__}: {name} is of type {type(value).__name__}; give {wanted}")
        return function(*bound.args, **bound.kwargs)

    return checked
