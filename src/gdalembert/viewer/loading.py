"""The bodies of a URDF."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import pinocchio as pin

from gdalembert.errors import UrdfWarning
from gdalembert.model.load_urdf import read_source


def visuals(
    source: str | os.PathLike[str], model: pin.Model, package_dirs: Sequence[str | os.PathLike[str]] = ()
) -> pin.GeometryModel | None:
    """The ``<visual>`` bodies of a URDF.

    Args:
        source: a shipped name, a path, or the text of a URDF, as :func:`~gdalembert.load_urdf` takes it.
        model: the model loaded from it.
        package_dirs: folders to search for ``package://``, besides the folder of the file.

    Returns:
        ``None`` if the URDF has none, or they cannot be read.

    Warns:
        UrdfWarning: if it has some that cannot be read.
    """
    data, name, _, shipped = read_source(source)
    text = data.decode("utf-8", errors="replace") if isinstance(data, bytes) else data
    if "<visual" not in text:
        return None
    own = [] if shipped or "<" in str(source) else [str(Path(source).resolve().parent)]
    try:
        found = pin.buildGeomFromUrdfString(
            model, text, pin.GeometryType.VISUAL, None, [*own, *(os.fspath(folder) for folder in package_dirs)]
        )
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        warnings.warn(
            f"{name}: its visual bodies cannot be read ({reason}), and it is drawn with cylinders and boxes; "
            "give package_dirs=, the folders that its meshes are in",
            UrdfWarning,
            stacklevel=3,
        )
        return None
    return found if found.ngeoms else None
