"""C files whose sizes are macros: a library for each set of sizes, and the arrays that it reads and writes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path

import numpy as np

from gdalembert.compilation.machine_code import Compiler, library_of
from gdalembert.spatial.arrays import Array


def source_of(package: str, macros: Mapping[str, int], *files: str) -> str:
    """C files of the folder ``c`` of a package in one, with these macros."""
    folder = resources.files(package).joinpath("c")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in files]
    return "\n".join([*(f"#define {name} {size}" for name, size in macros.items()), *texts])


def opened(who: str, source: str, usable: Callable[[Path], ctypes.CDLL]) -> ctypes.CDLL:
    """The library of a C source, from the cache or compiled now."""
    return library_of(Compiler(who, without=f"{who} needs one").find(), source, usable)


def aligned(*shape: int) -> Array:
    """Zeros that begin at a multiple of 64 bytes."""
    size = int(np.prod(shape))
    memory = np.zeros(size + 8)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size].reshape(shape)
