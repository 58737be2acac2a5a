"""Pinocchio's own names over CasADi, for programs that say ``from pinocchio import casadi as cpin`` (``gd.cpin``).

    from gdalembert import cpin

in place of that line is all that such a program changes. Names, arguments, order and conventions are those of
Pinocchio; SX and MX are taken, and numbers. There is no algorithm here: a call keeps its q, v, a, tau, and a slot of
``data`` evaluates a cached Function of :class:`~gdalembert.Kinematics` or :class:`~gdalembert.NewtonEuler` when it is
read. ``data`` is the workspace of the model of the call, as in Pinocchio, whichever model made it. What no call has
computed is an error that names the call, where Pinocchio gives zeros or the identity.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin import configurations, constraints, data, dynamics, kinematics, model, object_maps, objects
from gdalembert.cpin.calls import MissingAttributeError, refusing
from gdalembert.cpin.configurations import *
from gdalembert.cpin.configurations import liegroups
from gdalembert.cpin.constraints import *
from gdalembert.cpin.data import *
from gdalembert.cpin.dynamics import *
from gdalembert.cpin.kinematics import *
from gdalembert.cpin.matrices import StdVec
from gdalembert.cpin.model import *
from gdalembert.cpin.object_maps import *
from gdalembert.cpin.objects import *
from gdalembert.errors import UnknownNameError, UnsupportedError
from gdalembert.spatial import interrupts

__all__ = ["MissingAttributeError", "ScalarType", "StdVec", "install", "liegroups"]
__all__ += configurations.__all__ + constraints.__all__ + data.__all__ + dynamics.__all__ + kinematics.__all__
__all__ += model.__all__ + object_maps.__all__ + objects.__all__
_SHARED = ("BaumgarteCorrectorParameters", "XAxis", "YAxis", "ZAxis", "__version__")
ScalarType = ca.SX


def _public(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an algorithm so that its arguments are checked, and its data follows its model."""

    @wraps(call)
    def followed(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and isinstance(args[1], data.Data):
            args[1].follow(args[0])
        return call(*args, **kwargs)

    return refusing(followed, model=(model.Model, "a cpin.Model"), data=(data.Data, "model.createData()"))


for _name in (*configurations.__all__, *constraints.__all__, *dynamics.__all__, *kinematics.__all__):
    if callable(_call := interrupts.interruptible(globals()[_name])) and _name[0].islower():
        globals()[_name] = _public(_call)


for _name in (*objects.__all__, *object_maps.__all__):
    if isinstance(_object := globals()[_name], type):
        for _base in _object.__mro__:
            if _base.__module__.startswith("gdalembert."):
                interrupts.interruptible(_base)
    elif callable(_object):
        globals()[_name] = interrupts.interruptible(_object)


def __getattr__(name: str) -> Any:
    """Give Pinocchio's enumerations, axes, joint models and parsers, and a list in place of its vectors."""
    shared = getattr(pin, name, None)
    is_enumeration = isinstance(shared, int) or (isinstance(shared, type) and issubclass(shared, int))
    is_joint = shared is not None and name.startswith("JointModel")
    if is_enumeration or is_joint or name in _SHARED:
        return shared
    if name.startswith("StdVec_"):
        return StdVec
    if shared is not None and name.startswith(("buildModelFrom", "buildSampleModel")):
        return lambda *args, **kwargs: model.Model(getattr(pin, name)(*args, **kwargs))
    unknown = UnknownNameError("algorithm or class of cpin", name, __all__)
    raise MissingAttributeError(str(unknown) if shared is None else f"cpin.{name}: use pin.{name}; it takes no symbols")


def install() -> None:
    """Make ``from pinocchio import casadi`` give this module; an UnsupportedError where Pinocchio has its own."""
    this = sys.modules[__name__]
    spec = importlib.util.find_spec("pinocchio.casadi")
    if spec is not None and spec is not this.__spec__:
        raise UnsupportedError(
            f"cpin.install: pinocchio {pin.__version__} has its own pinocchio.casadi; import that, or gdalembert.cpin"
        )
    sys.modules["pinocchio.casadi"] = this
    pin.casadi = this
