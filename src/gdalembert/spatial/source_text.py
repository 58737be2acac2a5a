"""Names that strangers chose, as text that is safe in source code of any language, and as names of files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gdalembert.errors import ArgumentError

_UNSAFE = frozenset("\\\"'*`")
"""Characters that begin an escape or a line splice, end a string or a comment, or run a command (Julia's backquote)."""
_TRIGRAPH = re.compile(r"\?(?=\?)")
_LONGEST_STEM = 100
"""Length at which names of files are cut, which systems limit to 255."""
_RESERVED = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
"""Names of devices on Windows, where no file can have them, whatever its suffix."""
_OF_C = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main printf
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
fmin fmod frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp lgamma llrint llround log log10 log1p
log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn
signbit signgam sin sinh sqrt tan tanh tgamma trunc y0 y1 yn NAN INFINITY memchr memcmp memcpy memmove memset strcat
strchr strcmp strcpy strlen and bitand bitor bool catch class compl delete explicit export false friend mutable
namespace new not operator or private protected public remove rename puts putchar template this throw true try typeid
typename using virtual wchar_t xor
"""
"""Keywords of C and C++, and names of the headers that generated files include."""
_OTHER_STEM = "anotherStem"


def comment_text(name: str, limit: int = 200) -> str:
    """A name that cannot leave a comment or a string of C, C++, Rust, Julia, MATLAB, Python or LaTeX.

    It is printable ASCII on one line, without backslashes, quotes, asterisks, backquotes and trigraphs; other
    characters are written by their code point. LaTeX takes it after its own special characters are escaped.

    Args:
        name: of a robot, a joint, a frame, a parameter, a problem.
        limit: characters of the result, at least 4; a longer name ends with three dots.

    Returns:
        The text, in which ``_`` stands for each character that was taken out.
    """
    ascii_only = name.encode("ascii", "backslashreplace").decode()
    text = "".join(x if x.isprintable() and x not in _UNSAFE else "_" for x in ascii_only)
    text = _TRIGRAPH.sub("_", text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def identifier(name: str) -> str:
    """A name as an identifier of any language and as the stem of a file, cut if it is long.

    What is no ASCII letter, digit or underscore becomes an underscore. A name that begins with no letter, or that
    Windows keeps for a device (``con``, ``nul``), gets ``robot_`` before it.
    """
    words = "".join(x if x.isascii() and x.isalnum() else " " for x in name).split()
    joined = "_".join(words)[:_LONGEST_STEM]
    usable = joined[:1].isalpha() and not _RESERVED.fullmatch(joined)
    return joined if usable else f"robot_{joined}".rstrip("_")


def c_comment(lines: Iterable[str]) -> list[str]:
    """A block comment of C with these lines of text; what is in them ends it in no way.

    A backslash, or its trigraph, before the end of a line joins that line with the next one, before a compiler looks
    for the end of the comment; both are taken out, and ``*/`` and ``/*`` are parted. Names go through
    :func:`comment_text` first.

    Args:
        lines: of text, without marks of a comment.

    Returns:
        Lines of C.
    """
    text = _TRIGRAPH.sub("_", "\n".join(lines).replace("\\", "_"))
    parted = text.replace("*/", "* /").replace("/*", "/ *")
    return ["/*", *(f" * {line}".rstrip() for line in parted.splitlines()), " */"]


def check_stem(stem: str, texts: Callable[[str], tuple[str, str]]) -> None:
    """Refuse a stem that generated C files have as a name of their own, by what is generated with another one.

    Raises:
        ArgumentError: if the files would not compile.
    """
    code = re.sub(r"/\*.*?\*/", "", " ".join(texts(_OTHER_STEM)), flags=re.DOTALL)
    if stem in _OF_C.split() or re.search(rf"\b{stem}(_\w*)?\b", code):
        raise ArgumentError(f"generate: {stem!r} is a name of C or of the file itself; give another, as 'arm_{stem}.c'")


def write_whole(files: Mapping[Path, str]) -> None:
    """Write files as a whole or none of them: beside their places first.

    Raises:
        FileNotFoundError, IsADirectoryError: if a folder is not there, or stands in the place of a file.
        OSError: if a file cannot be written.
    """
    for path in files:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{path}: there is no folder {str(path.parent)!r}; make it first")
        if path.is_dir():
            raise IsADirectoryError(f"{path}: it is a folder; give another name")
    beside = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in files}
    try:
        for path, text in files.items():
            beside[path].write_text(text, encoding="utf-8")
        for path, temporary in beside.items():
            os.replace(temporary, path)
    finally:
        for temporary in beside.values():
            temporary.unlink(missing_ok=True)


def compile_lines(file: str, *, single: bool = False) -> list[str]:
    """The lines that compile a C file for three processors; ``single``: numbers are of single precision."""
    unit = "fpv5-sp-d16" if single else "fpv5-d16"  # a Cortex-M7 has either of these units
    commands = {
        "x86-64": "gcc -std=c99 -O2 -march=native",
        "aarch64": "aarch64-linux-gnu-gcc -std=c99 -O2",
        "Cortex-M7": f"arm-none-eabi-gcc -std=c99 -O2 -mcpu=cortex-m7 -mfpu={unit} -mfloat-abi=hard",
    }
    return [f"  {processor:<10} {command} -c {file}" for processor, command in commands.items()]
