"""What the benchmark in C++ runs: Pinocchio as libraries, Pinocchio's own graphs, and contestants that take turns.

All of it is made of packages by their names, once, and kept in the folder ``build``: libraries of the headers of
``pin`` and ``cmeel-eigen``, and a virtual environment with ``cmeel-casadi-kin-dyn``, the only package that pip installs
with graphs of Pinocchio in it. It requires an older ``pin`` and cannot stand beside this one.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import EXAMPLES, HERE, path

Array = npt.NDArray[np.float64]

BUILD = HERE.parent / "build"

KIN_DYN = "cmeel-casadi-kin-dyn==1.6.14"

WHEEL, NATIVE = "wheel", "native"
FLAGS = {
    WHEEL: "-O3 -DNDEBUG -DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION -lpinocchio_default",
    NATIVE: "-O3 -DNDEBUG -march=native -fno-gnu-unique -Wl,-Bsymbolic",
}
"""Pinocchio from the library of the wheel, and from its headers for this processor, with no symbol of the wheel's."""

MACROS = (
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
)
"""Those of Pinocchio's CMake targets."""

PACKAGES = ("pin", "cmeel-eigen")
"""Whose headers are compiled."""

ALGORITHMS = ("rnea", "crba", "aba", "computeCoriolisMatrix", "computeRNEADerivatives", "computeABADerivatives")
"""What must come from the library of the wheel."""


def pinocchio_library(kind: str) -> Path:
    """``pinocchio.cpp`` for the wheel's library or for this processor; the compiler takes minutes."""
    prefix, eigen = (_prefix(name) for name in PACKAGES)
    folders = [f"-I{prefix}/include", f"-I{eigen}/include/eigen3", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
    libraries = [*FLAGS[kind].split(), "-lboost_serialization"]
    source = HERE / "speed" / "pinocchio.cpp"
    library = _build(source, ["g++", "-std=c++17", "-w", *MACROS], folders, libraries, PACKAGES)
    symbols = subprocess.run(["nm", "-DC", "--undefined-only", library], capture_output=True, text=True, check=True)
    missing = [name for name in ALGORITHMS if (f"::{name}<" in symbols.stdout) != (kind == WHEEL)]
    if missing:
        raise SystemExit(f"{library}: {', '.join(missing)} should come from the {kind} build and do not")
    return library


def _prefix(package: str) -> Path:
    """Where a wheel made by cmeel has its headers and libraries."""
    try:
        return Path(str(metadata.distribution(package).locate_file("cmeel.prefix")))
    except metadata.PackageNotFoundError:
        raise SystemExit(f"the package {package} is missing: pip install '.[benchmark]'") from None


def _build(
    source: Path,
    compiler: Sequence[str],
    folders: Sequence[str] = (),
    libraries: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> Path:
    """The shared library of a source, made anew when the source, the options or a package changes."""
    versions = [f"{name} {metadata.version(name)}" for name in packages]
    key = hashlib.sha256("\0".join([source.read_text(), *compiler, *libraries, *versions]).encode()).hexdigest()[:16]
    target = BUILD / f"{source.stem}_{key}.so"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        command = [*compiler, "-shared", "-fPIC", str(source), *folders, "-o", f"{target}.part", *libraries]
        subprocess.run(command, check=True)
        Path(f"{target}.part").rename(target)
    return target


_WRITE = """
import json, sys
from casadi_kin_dyn.casadi_kin_dyn import CasadiKinDyn
urdf, root, *names = sys.argv[1:]
robot = CasadiKinDyn(open(urdf, encoding="utf-8").read(), getattr(CasadiKinDyn.JointType, root))
print(json.dumps([getattr(robot, name)().serialize() for name in names]))
"""

OWN_GRAPHS = {"inverse_dynamics": "rnea", "mass_matrix": "crba", "forward_dynamics": "aba"}
"""Those of Pinocchio's graphs that casadi-kin-dyn has, by the name of our Function."""


def own_graph(robot: str, function: str) -> ca.Function:
    """Pinocchio's own graph, dense and after ``ca.cse``, as a Function of the installed CasADi."""
    root = "FREE_FLYER" if robot in EXAMPLES and EXAMPLES[robot][1] else "OMIT"
    command = [_environment(), "-I", "-c", _WRITE, path(robot), root, OWN_GRAPHS[function]]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (text,) = json.loads(answer)
    graph = ca.Function.deserialize(text)
    inputs = graph.sx_in()
    return ca.Function(function, inputs, [ca.cse(ca.densify(graph(*inputs)))])


def _environment() -> Path:
    """Python of a virtual environment with casadi-kin-dyn; pip downloads 100 MB, once."""
    folder = BUILD / KIN_DYN.replace("==", "_")
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", KIN_DYN], check=True)
        (folder / "complete").touch()
    return python


class Contestant:
    """A loop over states: a C function, its argument, and where its results are, (n, size) for each output."""

    def __init__(self, call: ctypes._FuncPtr, argument: int, outputs: list[Array], *keep: object) -> None:
        self.call, self.argument, self.outputs, self._keep = call, argument, outputs, keep


TOGETHER, IN_TURN = "gdalembert_together", "gdalembert_in_turn"
"""What of a library evaluates a batch, and single states one after the other."""


def compiled(graph: ca.Function, way: str, inputs: Sequence[Array], output: str = "full") -> Contestant:
    """A Function by ``gd.compile``: all states in one call of its machine code."""
    function = gd.compile(graph, output=output)
    library = ctypes.CDLL(str(function.library))
    n = len(inputs[0])
    written = [np.full((n, *shape), np.nan).reshape(n, -1) for shape in function.outputs.values()]
    steps = [(x.ctypes.data, x.shape[1], 1) for x in (*inputs, *written)]
    task = np.array([n, *(number for step in steps for number in step)], dtype=np.int64)
    if (call := getattr(library, way))(ctypes.c_void_p(task.ctypes.data)):
        raise SystemExit(f"{graph.name()}: a state fails")
    places = function.places
    full = [
        places[name].full(y).reshape(n, -1) if name in places else y
        for name, y in zip(function.outputs, written, strict=True)
    ]
    return Contestant(call, task.ctypes.data, full, task, inputs, written)


def pinocchio(library: Path, model: Path, algorithm: str, states: Sequence[Array], sizes: Sequence[int]) -> Contestant:
    """An algorithm of ``pinocchio.cpp`` for states q, v and a (tau of forward dynamics)."""
    code = ctypes.CDLL(str(library))
    code.new_task.restype = ctypes.c_void_p
    n = len(states[0])
    addresses = [ctypes.c_void_p(x.ctypes.data) for x in states]
    task = code.new_task(str(model).encode(), algorithm.encode(), ctypes.c_long(n), *addresses)
    outputs = [np.full((n, size), np.nan) for size in sizes]
    code.results(ctypes.c_void_p(task), (ctypes.c_void_p * len(outputs))(*(y.ctypes.data for y in outputs)))
    return Contestant(code.run, task, outputs, states)


def largest_difference(contestants: dict[str, Contestant]) -> tuple[float, str]:
    """Of all contestants from the first, relative to the largest entry of an output in a state; and whose it is."""
    (_, first), *others = contestants.items()
    worst = [(0.0, "")]
    for name, contestant in others:
        for found, wanted in zip(contestant.outputs, first.outputs, strict=True):
            error = np.abs(found - wanted).max(axis=1) / np.abs(wanted).max(axis=1)
            worst.append((float(np.nan_to_num(error, nan=np.inf).max()), name))
    return max(worst)


def take_turns(contestants: dict[str, Contestant], rounds: int) -> dict[str, Array]:
    """Seconds that each contestant takes for all states in each round."""
    call = ctypes.CDLL(str(_build(HERE / "speed" / "turns.c", ["cc", "-O2"]))).take_turns
    every = list(contestants.values())
    calls = (ctypes.c_void_p * len(every))(*(ctypes.cast(each.call, ctypes.c_void_p) for each in every))
    arguments = (ctypes.c_void_p * len(every))(*(each.argument for each in every))
    seconds = np.zeros((rounds, len(every)))
    if failed := call(len(every), calls, arguments, rounds, ctypes.c_void_p(seconds.ctypes.data)):
        raise SystemExit(f"{list(contestants)[failed - 1]}: a state fails")
    return dict(zip(contestants, seconds.T, strict=True))


def save(model: pin.Model, folder: str) -> Path:
    """The model as the text that Pinocchio's C++ loads."""
    file = Path(folder) / "model"
    model.saveToText(str(file))
    return file
