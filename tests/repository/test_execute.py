"""Pages are run, and what they print and draw is written into them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

EXECUTE = script(ROOT / "docs" / "execute.py")

PAGE = """# A page

```python
x = 2
```

Text.

```python
print(f"x is {x / 3:.3f}  ")
print()
```

More text.
"""
SHOWN = PAGE.replace("\n\nMore", "\n\n```text\nx is 0.667\n```\n\nMore")
DRAWS = "```python\nimport matplotlib.pyplot as plt\n\nplt.bar([1, 2], [1, 2])\nprint(1)\n```\n"


def page(folder: Path, text: str, name: str = "page.md") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (PAGE, SHOWN),
        (SHOWN, SHOWN),
        (SHOWN.replace("0.667", "0.668"), SHOWN.replace("0.667", "0.668")),  # as another machine rounds
        (SHOWN.replace("0.667", "0.669"), SHOWN),
        (PAGE.replace("x = 2\n```\n", "x = 2\n```\n\n```text\n2\n```\n"), SHOWN),  # it prints nothing
    ],
)
def test_outputs_are_written(text: str, written: str, tmp_path: Path) -> None:
    asked = page(tmp_path, text)
    before = EXECUTE.execute(asked, check=True)
    assert asked.read_text(encoding="utf-8") == text
    assert (before == []) == (text == written)
    assert EXECUTE.execute(asked) == []
    assert asked.read_text(encoding="utf-8") == written


def test_what_differs_is_said(tmp_path: Path) -> None:
    (said,) = EXECUTE.execute(page(tmp_path, SHOWN.replace("\nx is", "\nx was")), check=True)
    assert said == (
        "page.md, block 2: it prints\nx is 0.667\nand the page shows\nx was 0.667; write it by: "
        "python docs/execute.py page.md"
    )


def test_readme_runs_and_shows_no_output(tmp_path: Path) -> None:
    readme = page(tmp_path, PAGE, "README.md")
    assert EXECUTE.execute(readme) == []
    assert readme.read_text(encoding="utf-8") == PAGE


def test_blocks_run_in_an_empty_folder_and_warnings_are_errors(tmp_path: Path) -> None:
    look = "```python\nfrom pathlib import Path\n\nprint(list(Path().iterdir()))\n```\n"
    asked = page(tmp_path, look)
    EXECUTE.execute(asked)
    assert "```text\n[]\n```" in asked.read_text(encoding="utf-8")
    with pytest.raises(UserWarning, match=r"^odd$"):
        EXECUTE.execute(page(tmp_path, '```python\nimport warnings\n\nwarnings.warn("odd")\n```\n'))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("[ 1.  -0.]", "[1. 0.]", True),
        ("worst 3.1e-16", "worst 0.9e-15", True),
        ("0.4694 J", "0.4695 J", True),
        ("0.4694 J", "0.4697 J", False),
        ("6.302776422995038e-05", "6.302776429995038e-05", True),
        ("6.302776422995038e-05", "6.302876422995038e-05", False),
        ("0.2 m", "0.3 m", False),
        ("off by 2.3e-06", "off by 5e-06", True),
        ("off by 2.3e-06", "off by 2.5e-05", False),
        ("41 instructions", "42 instructions", False),
        ("after 47 iterations", "after 52 iterations", True),
        ("after 47 iterations", "after 90 iterations", False),
        ("joint1 ok", "joint2 ok", False),
        ("Version 0.2.0", "Version 0.2.1", False),
        ("1 2", "1 2 3", False),
        ("", "0", False),
    ],
)
def test_numbers_differ_by_what_a_machine_makes_of_them(one: str, other: str, equal: bool) -> None:
    assert EXECUTE.same(one, other) is equal
    assert EXECUTE.same(other, one) is equal


@pytest.mark.extras
@pytest.mark.usefixtures("clean_matplotlib")
def test_figures_are_drawn(tmp_path: Path) -> None:
    asked = page(tmp_path, DRAWS)
    (said,) = EXECUTE.execute(asked)
    assert said.startswith("page.md, block 1: it draws a figure, and no line ![what it shows](images/NAME.png) follows")
    page(tmp_path, DRAWS + "\n![bars](images/bars.png)\n")
    assert "it draws a figure that differs from images/bars.png" in EXECUTE.execute(asked, True)[1]
    assert EXECUTE.execute(asked) == []
    page(tmp_path, asked.read_text(encoding="utf-8").replace("[1, 2])", "[2, 1])"))
    assert "it draws a figure that differs from images/bars.png" in EXECUTE.execute(asked, True)[0]
    page(tmp_path, asked.read_text(encoding="utf-8").replace("[2, 1])", "[1, 2])"))
    assert EXECUTE.execute(asked, True) == []
    assert (tmp_path / "images" / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert asked.read_text(encoding="utf-8") == DRAWS + "\n```text\n1\n```\n\n![bars](images/bars.png)\n"


def test_the_command_says_what_failed(tmp_path: Path) -> None:
    wrong, right = page(tmp_path, "```python\n\n1 / 0\n```\n"), page(tmp_path, SHOWN, "right.md")
    command = [sys.executable, str(ROOT / "docs" / "execute.py"), "--check", str(wrong), str(right)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (1, "", 2)
    assert lines[0].endswith(" s, page.md, block 1, line 2: ZeroDivisionError: division by zero")
    assert lines[1].endswith(" s, ok")
