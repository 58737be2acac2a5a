"""Calls with Pinocchio's arguments and keywords: what is refused is refused in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from gdalembert.errors import ArgumentTypeError

T = TypeVar("T")


def taken(what: str, call: Callable[..., Any], *args: Any) -> Any:
    """What a call of Pinocchio gives; its refusal of arguments in one sentence."""
    try:
        return call(*args)
    except (TypeError, ValueError):
        kinds = ", ".join(type(x).__name__ for x in args)
        raise ArgumentTypeError(f"{what}: Pinocchio does not take ({kinds}) with these shapes and values") from None


def synonyms(**names: str) -> Callable[[T], T]:
    """A decorator of functions that :func:`refusing` wraps: other keywords of their parameters, by these."""

    def with_synonyms(function: T) -> T:
        vars(function)["synonyms"] = names
        return function

    return with_synonyms


def refusing(function: Callable[..., Any], **kinds: tuple[type, str]) -> Callable[..., Any]:
    """The function, which refuses arguments of these names that are of no such kind, and says what to give."""
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
        given = bound.arguments
        for name, (kind, wanted) in kinds.items():
            known = name not in given or isinstance(given[name], kind)
            if not (known or given[name] is parameters.parameters[name].default):
                raise ArgumentTypeError(
                    f"{function.__name__}: {name} is of type {type(given[name]).__name__}; give {wanted}"
                )
        return function(*bound.args, **bound.kwargs)

    return checked
