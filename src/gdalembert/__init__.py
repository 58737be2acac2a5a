"""Dynamics of Pinocchio models as CasADi graphs: generalized d'Alembert, Lagrange-Euler, Newton-Euler.

import gdalembert as gd

model = gd.load_urdf("puma560")
dyn = gd.NewtonEuler(model)
tau = dyn.inverse_dynamics(q, v, a)
gd.validate(dyn, against=model).raise_for_failure()

Each name is imported when it is first used (PEP 562): ``import gdalembert`` alone loads neither Pinocchio nor CasADi.
The names and their modules stand in ``__init__.pyi``, where type checkers read them too.
"""

from importlib import import_module
from importlib.util import find_spec

# at once: the module has the same name, and whoever imports it would hide it
from gdalembert.citation import citation as citation

with open(f"{__file__}i", encoding="utf-8") as _stub:  # lines as "from gdalembert.spatial import lie as lie"
    _HOMES = {line.split()[3]: line.split()[1] for line in _stub if line.startswith("from ")}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """The version, a public name, or a module of the package, at its first use."""
    found: object
    if name == "__version__":
        found = import_module("importlib.metadata").version(__name__)
    elif not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        found = import_module(f"{__name__}.{name}")
    elif name in _HOMES:
        module = import_module(_HOMES[name])
        found = getattr(module, name) if hasattr(module, name) else import_module(f"{_HOMES[name]}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names, the modules of the package, and what Python itself gives every module."""
    modules = {module.name for module in import_module("pkgutil").iter_modules(__path__)} - {"__main__"}
    own = {name for name in globals() if name.startswith("__")}
    return sorted({"__version__", *own, *modules, *_HOMES})
