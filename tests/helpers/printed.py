"""What a script prints, beside lines that were recorded."""

from __future__ import annotations

import re

from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

EXECUTE = script(ROOT / "docs" / "execute.py")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)")


def assert_printed(text: str, *lines: str) -> None:
    """Each line, or part of one, is in the text; numbers may differ as those of pages may, by ``docs/execute.py``."""
    said = " ".join(text.split())
    for line in lines:
        words = NUMBER.split(line)
        alike = [match[0] for match in re.finditer(NUMBER.pattern.join(map(re.escape, words)), said)]
        assert any(EXECUTE.same(line, printed) for printed in alike), f"{line!r}: {alike or 'it is not'} in\n{text}"
