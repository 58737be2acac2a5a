"""The packages of the extra ``identification``, each imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gdalembert.errors import UnsupportedError


def required(where: str, name: str) -> Any:
    """The module.

    Raises:
        UnsupportedError: if it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise UnsupportedError(f"{where} needs {package}: pip install 'gdalembert[identification]'") from None
