"""The machine's C compiler: its command, its flags, and how it is run."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gdalembert.errors import CompilationError

TIME_LIMIT = 600.0
"""How long the compiler may run by default [s]."""

_COMPILERS = ("cc", "gcc", "clang")


@dataclass(frozen=True)
class Use:
    """What a compiler is wanted for.

    Attributes:
        name: of the Function or of the caller, for messages.
        level: of optimisation, for which the processor is named too, where the compiler knows it.
        without: what to do without a compiler. ``slow``: what to do if it takes too long.
    """

    name: str
    level: str = "-O3"
    without: str = "CasADi's interpreter needs no compiler: compile(function, interpreter=True)"
    slow: str = "give a larger time_limit, or flags='-O1', which is faster for large graphs"


@dataclass(frozen=True)
class Compiler:
    """A compiler with flags that it knows.

    Attributes:
        use: what it is wanted for. ``command``: the words that start the compiler. ``flags``: its flags.
        macros: those that it predefines, which name its version and the processor.
        time_limit: how long it may run [s].
    """

    use: Use
    command: tuple[str, ...]
    flags: tuple[str, ...]
    macros: str
    time_limit: float

    @property
    def key(self) -> tuple[str, ...]:
        """What determines its output."""
        return (*self.command, *self.flags, self.macros)

    def build(self, source: str, folder: Path) -> Path:
        """The library of a C source, compiled in a folder.

        Raises:
            CompilationError: if the compiler fails, takes too long, or writes no library.
            OSError: if the folder cannot be written.
        """
        code, library = folder / "function.c", folder / "function.so"
        code.write_text(source, encoding="utf-8")
        words = [*self.command, "-shared", "-fPIC", "-o", library.name, code.name, *self.flags, "-lm"]
        _output(self.use, words, self.time_limit, folder)
        if not library.is_file():
            reason = f"{self.command[0]} reports success, but writes no library; {self.use.without}"
            raise CompilationError(self.use.name, reason)
        return library


def find_compiler(
    use: Use, asked: str = "", flags: str | Sequence[str] | None = None, time_limit: float = TIME_LIMIT
) -> Compiler:
    """The compiler asked for, or ``$CC``, or the first there is.

    Raises:
        CompilationError: if there is none, or it does not know the flags.
    """
    command = _command(use, (asked or os.environ.get("CC", "")).strip())
    *others, last = [(use.level, "-march=native"), (use.level,)] if flags is None else [_words(use.name, flags)]
    ask = ["-dM", "-E", "-x", "c", os.devnull]
    for options in others:
        status, macros, _ = _run(use, [*command, *options, *ask], time_limit)
        if not status:
            return Compiler(use, command, options, macros, time_limit)
    macros = _output(use, [*command, *last, *ask], time_limit)
    return Compiler(use, command, last, macros, time_limit)


def _command(use: Use, asked: str) -> tuple[str, ...]:
    """The first command that is there."""
    for words in (_words(use.name, each) for each in ((asked,) if asked else _COMPILERS)):
        if shutil.which(words[0]):
            return words
    sought = repr(asked) if asked else f"{', '.join(_COMPILERS)} ($CC is not set)"
    how = "'apt install gcc', 'xcode-select --install' or 'conda install c-compiler'"
    raise CompilationError(use.name, f"no C compiler: looked for {sought}; install one ({how}); {use.without}")


def _words(name: str, text: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(text, str):
        return tuple(text)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        hint = "write it as a shell would take it"
        raise CompilationError(name, f"the compiler or its flags {text!r} cannot be read: {error}; {hint}") from None


def _output(use: Use, command: Sequence[str], time_limit: float, folder: Path | None = None) -> str:
    """What the compiler prints if it succeeds."""
    status, output, errors = _run(use, command, time_limit, folder)
    if status:
        lines = errors.strip().splitlines() or [f"exit status {status}"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise CompilationError(use.name, f"{command[0]} fails: {first.strip()}; {use.without}")
    return output


def _run(use: Use, command: Sequence[str], time_limit: float, folder: Path | None = None) -> tuple[int, str, str]:
    """The exit status, output and errors of the compiler."""
    english = {**os.environ, "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=english,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # so that it can be killed together with the programs that it starts
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CompilationError(use.name, f"{command[0]} does not run: {reason}; {use.without}") from error
    with process:
        try:
            output, errors = process.communicate(timeout=time_limit)
        except subprocess.TimeoutExpired:
            _kill(process)
            reason = f"{command[0]} is not done after {time_limit:g} s; {use.slow}"
            raise CompilationError(use.name, reason) from None
        except BaseException:
            _kill(process)
            raise
    return process.returncode, output, errors


def _kill(process: subprocess.Popen[str]) -> None:
    """End the compiler and the programs that it has started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
