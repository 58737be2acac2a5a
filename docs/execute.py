"""Runs the Python blocks of pages, and writes into the pages what they print and draw.

python docs/execute.py                           README and the pages in docs
python docs/execute.py docs/flexible.md          one page
python docs/execute.py --check docs/flexible.md  says what a page shows that its blocks do not give; writes nothing

The blocks of a page run in order, in one process and an empty folder, with each warning an error. After a block stands
what it gives, each after an empty line: its output as a block of ``text``, and the figure that it draws as the picture
``![what it shows](images/NAME.png)``. The author writes the line of the picture, and nothing else of these: an output
that is not there is added, one that differs is replaced, a picture is drawn. README runs, but shows no output.

Numbers may differ by one unit in their last place, or by 1e-6, which is what processors and versions of libraries make
of them; counts of steps and iterations by a fifth; errors such as 2.3e-06 by a factor of ten. Below 1e-7 all are zero.
Other integers are equal. What depends on time or on the machine is not printed. A block under ``<!-- needs: torch -->``
runs where that package is installed, which no extra brings.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
DPI = 130  # of pictures
_BLOCK = re.compile(
    r"^(?:<!-- needs: (?P<needs>\w+) -->\n)?```python\n(?P<code>.*?)^```\n"
    r"(?P<given>(?:\n```text\n(?P<output>.*?)^```\n)?(?:\n(?P<line>!\[[^\]]+\]\((?P<picture>[^)\s]+\.png)\))\n)?)",
    re.MULTILINE | re.DOTALL,
)
_COUNT = re.compile(r"\b\d+(?= (?:steps?|iterations?)\b)")
_ERROR = re.compile(r"[-+]?\d(?:\.\d?)?e-\d+")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)")


@dataclass(frozen=True)
class Block:
    """A Python block of a page, and what the page shows after it."""

    needs: str  # a package that is in no extra, without which the block is not run; "" if none
    code: str
    output: str  # "" if the page shows none
    line: str  # that of the picture which follows, "" if none does
    picture: str  # its path, seen from the page
    span: tuple[int, int]  # of the block with what is shown, in the text of the page
    given: tuple[int, int]  # of what is shown


def blocks(text: str) -> list[Block]:
    """Of a page's text, in order."""
    return [
        Block(
            *(found[name] or "" for name in ("needs", "code", "output", "line", "picture")),
            found.span(),
            found.span("given"),
        )
        for found in _BLOCK.finditer(text)
    ]


def pages() -> list[Path]:
    """Those that have Python blocks."""
    files = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "api").glob("*.md")),
    ]
    return [page for page in files if page.is_file() and blocks(page.read_text(encoding="utf-8"))]


# ---- running


@dataclass(frozen=True)
class Given:
    """What a block gives: its output without empty lines around it, and its last figure."""

    output: str
    figure: Figure | None


def run(page: Path) -> Iterator[Given]:
    """What each block of a page gives."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, block in enumerate(blocks(page.read_text(encoding="utf-8")), 1):
        if block.needs and find_spec(block.needs) is None:
            yield Given(block.output.rstrip(), None)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.code, f"{page.name}, block {number}", "exec"), namespace)
        lines = [line.rstrip() for line in printed.getvalue().splitlines()]
        yield Given("\n".join(lines).strip("\n"), _drawn())


def _drawn() -> Figure | None:
    """The current figure; all are closed, as after a cell of a notebook."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return None
    figure = pyplot.gcf()
    pyplot.close("all")
    return figure


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """In an empty folder, and with each warning an error."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        yield


# ---- comparing


def same(one: str, other: str) -> bool:
    """Whether two outputs are equal but for spaces and for what a machine makes of a number."""
    counts = zip(_COUNT.findall(one), _COUNT.findall(other), strict=False)
    one, other = (_COUNT.sub("some", text) for text in (one, other))
    if len({"".join(_NUMBER.sub("\0", text).split()) for text in (one, other)}) > 1:
        return False
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(_close(*pair) for pair in numbers) and all(5 * abs(int(a) - int(b)) <= int(a) for a, b in counts)


def _close(one: str, other: str) -> bool:
    a, b = float(one), float(other)
    if a == b or one.lstrip("+-").isdigit() or other.lstrip("+-").isdigit():
        return a == b
    size = max(abs(a), abs(b))
    if all(map(_ERROR.fullmatch, (one, other))):
        return size < 1e-7 or min(abs(a), abs(b)) > 0.1 * size
    last_place = min(max(map(_last_place, (one, other))), 0.01 * size)
    return size < 1e-7 or abs(a - b) <= 1.001 * max(last_place, 1e-6 * size)


def _last_place(number: str) -> float:
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def differences(page: Path, given: list[Given]) -> list[str]:
    """What the page shows that its blocks do not give, one sentence for each."""
    return [
        f"{page.name}, block {number}: {says}; write it by: python docs/execute.py {page.name}"
        for number, (block, each) in enumerate(zip(_shown(page), given, strict=True), 1)
        for says in _block_differences(page, block, each)
    ]


def _shown(page: Path) -> list[Block]:
    return blocks(page.read_text(encoding="utf-8"))


def _block_differences(page: Path, block: Block, given: Given) -> Iterator[str]:
    expected = _expected(page, given)
    if not same(block.output, expected):
        yield f"it prints\n{expected}\nand the page shows\n{block.output.rstrip()}"
    if given.figure is not None:
        if not block.picture:
            yield "it draws a figure, and no line ![what it shows](images/NAME.png) follows"
        elif not _like(given.figure, page.parent / block.picture):
            yield f"it draws a figure that differs from {block.picture}"


def _expected(page: Path, given: Given) -> str:
    return "" if page.name == "README.md" else given.output


def _like(figure: Figure, picture: Path) -> bool:
    """Whether a picture is there, and is the figure but for 1 % of its pixels: rounding, and versions of matplotlib."""
    if not picture.is_file():
        return False
    from PIL import Image, ImageChops, ImageStat

    drawn, there = _image(figure).convert("RGB"), Image.open(picture).convert("RGB")
    if drawn.size != there.size:
        return False
    changed = ImageChops.difference(drawn, there).convert("L").point(lambda grey: 255 * (grey > 20))
    return ImageStat.Stat(changed).mean[0] < 0.01 * 255


def _image(figure: Figure) -> Image.Image:
    """In 64 colours: a third as large as with all."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DPI)
    return Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE)


# ---- writing


def written(page: Path, given: list[Given]) -> str:
    """The text of the page with what its blocks print; an output that is the same stays as it stands."""
    text = page.read_text(encoding="utf-8")
    for block, each in reversed(list(zip(blocks(text), given, strict=True))):
        output = _expected(page, each)
        if not same(block.output, output):
            shown = f"\n```text\n{output}\n```\n" if output else ""
            shown += f"\n{block.line}\n" if block.line else ""
            text = text[: block.given[0]] + shown + text[block.given[1] :]
    return text


def draw(page: Path, given: list[Given]) -> None:
    """The pictures of a page; one that is the same stays as it is."""
    for block, each in zip(_shown(page), given, strict=True):
        path = page.parent / block.picture
        if each.figure is not None and block.picture and not _like(each.figure, path):
            path.parent.mkdir(exist_ok=True)
            _image(each.figure).save(path, optimize=True)


def execute(page: Path, check: bool = False) -> list[str]:
    """Run a page, and write what it gives unless it is only to be checked; what is still wrong."""
    with _apart():
        given = list(run(page))
        if not check:
            page.write_text(written(page, given), encoding="utf-8")
            draw(page, given)
    return differences(page, given)


# ---- the command


def _timed(page: Path, check: bool) -> tuple[list[str], float]:
    begin = time.perf_counter()
    try:
        wrong = execute(page, check)
    except Exception as error:
        at = error.__traceback__
        while at.tb_next is not None and not at.tb_frame.f_code.co_filename.startswith(page.name):
            at = at.tb_next
        wrong = [f"{at.tb_frame.f_code.co_filename}, line {at.tb_lineno}: {type(error).__name__}: {error}"]
    return wrong, time.perf_counter() - begin


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="Markdown files; by default README and docs")
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 if a page is out of date",
    )
    parser.add_argument("--jobs", type=int, default=1, help="pages that run at the same time (1)")
    given = parser.parse_args(arguments)
    chosen = [page.resolve() for page in given.pages] or pages()
    failed = 0
    os.environ["MPLBACKEND"] = "agg"  # of the processes: no window
    spawn = multiprocessing.get_context("spawn")  # each page in a process of its own
    with ProcessPoolExecutor(given.jobs, mp_context=spawn, max_tasks_per_child=1) as pool:
        results = pool.map(_timed, chosen, [given.check] * len(chosen))
        for page, (wrong, seconds) in zip(chosen, results, strict=True):
            print(f"{page.name}: {seconds:.1f} s, {'; '.join(wrong) or 'ok'}", flush=True)
            failed += bool(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
