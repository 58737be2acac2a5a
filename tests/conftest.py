"""Fixtures of several rooms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


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
