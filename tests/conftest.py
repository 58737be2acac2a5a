"""Fixtures of several rooms; and files that need packages which the extra ``test`` does not install."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests start many processes; without bytecode each of them would compile the package and the tests again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests run in a process for each core, in which threads of NumPy's BLAS would wait for each other, busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_LONGEST = 1200
"""[s] The time limit of a test that is not quick."""
_NEEDS_EXTRAS = re.compile(r"^pytestmark = .*\bpytest\.mark\.extras\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where tests that need extras are deselected, files of nothing else are not imported: they could not be."""
    if "not extras" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    return True if _NEEDS_EXTRAS.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that are not quick have more time than ``timeout`` of ``pyproject.toml``."""
    for item in items:
        if any(item.get_closest_marker(name) for name in ("long", "extras", "system")):
            item.add_marker(pytest.mark.timeout(_LONGEST))


@pytest.fixture
def no_system_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without programs, and none that the user asks for."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))


@pytest.fixture
def no_compiler(no_system_compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the compiler of ziglang, too."""
    monkeypatch.setattr("gdalembert.compilation.machine_code.find_spec", lambda name: None)


@pytest.fixture
def clean_matplotlib(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No window is opened, no setting is left behind."""
    import matplotlib
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("a figure is shown"))
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")
