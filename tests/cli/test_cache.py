"""``gdalembert cache``: what it lists and removes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gdalembert.cli.main import main
from gdalembert.compilation.cache import Cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    for key, size, used in (("a", 999, 1e9), ("b", 123_456, 1e9 + 86400)):
        with Cache().build() as place:
            (place / "function.so").write_bytes(bytes(size))
            os.utime(Cache().add(key * 64, place / "function.so"), (used, used))
    return tmp_path / "cache"


def test_the_cache_is_listed_and_cleared(capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    assert main(["cache"]) == 0
    head, names, *rows = capsys.readouterr().out.splitlines()
    assert head == f"{cache}: 2 libraries, 124 kB, of at most 1 GB"
    assert names.split() == ["library", "size", "last", "used"]
    assert [row.split()[:4] for row in rows] == [
        ["b" * 12, "123", "kB", "2001-09-10"],
        ["a" * 12, "999", "B", "2001-09-09"],
    ]
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{cache}: removed 2 libraries, 124 kB\n"
    assert os.listdir(cache) == []
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{cache}: 0 libraries, 0 B, of at most 1 GB\n"
