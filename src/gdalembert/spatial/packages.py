"""Packages that only a part of gdalembert needs, each imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gdalembert.errors import MissingPackageError

_DISTRIBUTIONS = {"rockit": "rockit-meco", "viser": "viser pycollada"}
"""What pip installs, where it has another name than the package, or is more."""


def required(where: str, name: str) -> Any:
    """The module.

    Args:
        where: what needs it.
        name: of the module.

    Raises:
        MissingPackageError: if it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise MissingPackageError(where, package, _DISTRIBUTIONS.get(package, package)) from None
