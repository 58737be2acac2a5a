"""What README and the pages say of speed and size in ratios: each is in a recorded page of ``benchmarks/results``.

A ratio is written ``2.1×`` or ``2.1 times``. In a table, the marker ``<!-- rows of FILE -->`` stands above, as for all
numbers of a result. In prose, ``<!-- row of FILE: CELL | CELL -->`` stands before, with the first cells of a row of
FILE; the ratios up to the next marker, or to the end of the paragraph, are cells of that row, in their order.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "benchmarks" / "README.md"]
RATIO = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?)(?:×| times\b|(?=(?:,|,? and| to| or) \d+(?:\.\d+)?(?:×| times\b)))")
IN_WORDS = re.compile(
    r"\b(?:twice|half|third|quarter|tenth|two|three|four|five|six|seven|eight|nine|ten|twenty|hundred)"
    r"(?: times)? (?:as (?:fast|long|large|small|many)|the (?:time|speed|size|instructions))"
    r"|\d ?% (?:faster|slower|larger|smaller|fewer|of (?:the|its|their) (?:time|speed|size|instructions))"
    r"|\d ?(?:-fold|x (?:faster|as fast))"
)
MARKER = re.compile(r"<!-- row of (\S+): (.+?) -->")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def paragraphs(text: str) -> list[str]:
    """Without code and equations; a table is a paragraph, with the marker above it."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`|\$[^$]*\$", lambda found: found[0] if "|" in found[0] else "`…`", text)
    return re.split(r"\n\s*\n", text)


def recorded(source: str) -> list[list[str]]:
    """The rows of a recorded page, heads among them."""
    assert re.fullmatch(r"benchmarks/results/\w+\.md", source)
    return [cells(line) for line in (ROOT / source).read_text(encoding="utf-8").splitlines() if line.startswith("|")]


def unfounded(text: str) -> list[str]:
    """The ratios of a page that no recorded page has."""
    found = []
    for paragraph in paragraphs(text):
        if "\n|" in f"\n{paragraph}":
            found += _of_table(paragraph)
        else:
            found += _of_prose(" ".join(paragraph.split()))
    return found


def _of_table(table: str) -> list[str]:
    """The heads, if there are ratios, and the rows with ratios that begin no row of the page; labels may be others."""
    marker = re.match(r"<!-- rows of (\S+) -->\n", table)
    lines = [line for line in table.splitlines() if line.startswith("|")]
    ratios = [line for line in lines if re.search(r"\d×", line)]
    if not ratios:
        return []
    known = [row[1:] for row in recorded(marker[1])] if marker else []
    return [
        line for line in (lines[0], *ratios) if not any(row[: len(cells(line)) - 1] == cells(line)[1:] for row in known)
    ]


def _of_prose(paragraph: str) -> list[str]:
    before, *parts = MARKER.split(paragraph)
    found = [match[0] for match in RATIO.finditer(before)] + IN_WORDS.findall(paragraph)
    for source, row, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        first = cells(row)
        (known,) = [each for each in recorded(source) if each[: len(first)] == first and any("×" in x for x in each)]
        for match in RATIO.finditer(text):
            if (cell := f"{match[1]}×") in known:
                known = known[known.index(cell) + 1 :]
            else:
                found.append(match[0])
    return found


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_ratio_is_recorded(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert unfounded(text) == []
    assert re.search("^<!-- row of", text, re.MULTILINE) is None, "a comment that begins a line ends the paragraph"


def test_readme_has_ratios() -> None:
    """That the test above reads: tau of the Panda beside Pinocchio's C++."""
    assert len(MARKER.findall((ROOT / "README.md").read_text(encoding="utf-8"))) == 1


def test_a_ratio_that_is_not_recorded_is_found() -> None:
    source = "benchmarks/results/native.md"
    row = next(row for row in recorded(source) if row[:2] == ["Panda arm", "τ"] and "×" in row[2])
    first, second = (row[k].replace("×", " times") for k in (2, 3))
    marker = f"<!-- row of {source}: Panda arm | τ -->"
    assert unfounded(f"It is {marker} {first} as\nfast, and {second}.") == []
    assert unfounded(f"It is {marker} {row[2].strip('×')} and {second}.") == []
    assert unfounded(f"It is {marker} 99 and {second}.") == ["99"]
    assert unfounded(f"It is {marker} {second}, and {first} as fast.") == [first]
    assert unfounded(f"It is {marker} 99.9 times as fast, {row[2]}.") == ["99.9 times"]
    assert unfounded(f"It is {first} as fast.") == [first]
    assert unfounded(f"{marker} {first}.\n\nIn the next paragraph {first}.") == [first]
    words = ["half the time", "twice as long", "0 % of its time"]
    assert unfounded(f"{words[0]}, {words[1]}, 3{words[2]}; a 4 × 4 matrix, up to 1e4 times") == words
    heads = next(row for row in recorded(source) if row[0] == "" and " / " in row[2])
    table = "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), row))
    assert unfounded(f"<!-- rows of {source} -->\n{table}") == []
    assert len(unfounded(table)) == 2
    assert len(unfounded(f"<!-- rows of {source} -->\n{table.replace(row[2], '99×')}")) == 1
    assert len(unfounded(f"<!-- rows of {source} -->\n{table.replace(heads[2], 'others')}")) == 1
