"""The package: matplotlib comes when it is needed, figures go where they are told."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys

import pinocchio as pin
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentTypeError, UnsupportedError
from tests.helpers.plots import swing

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


def test_matplotlib_is_imported_by_the_first_figure_only() -> None:
    code = "import sys, gdalembert, gdalembert.plotting; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("gdalembert.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = r'^gdalembert\.plotting needs matplotlib: pip install "gdalembert\[plot\]"$'
    with pytest.raises(UnsupportedError, match=message) as error:
        importlib.import_module("gdalembert.plotting")
    assert isinstance(error.value, ModuleNotFoundError)
    assert error.value.name == "matplotlib"


def test_figures_go_where_they_are_told() -> None:
    model = gd.load_urdf("two_link_arm")
    ax = Figure().subplots()
    assert plotting.torque_decomposition(model, swing(model), joint=0, ax=ax) is ax
    assert pyplot.get_fignums() == []
    assert plotting.torque_decomposition(model, swing(model), joint=0) is pyplot.gca()
    for draw in (
        lambda ax: plotting.torque_decomposition(model, swing(model), joint=0, ax=ax),
        lambda ax: plotting.scaling({"a": {1: 1}}, ax=ax),
        lambda ax: plotting.instructions({"a": {"b": 1}}, "b", ax=ax),
        lambda ax: plotting.force_ellipsoid(model, "tip", [0, 1], pin.LOCAL, plane="xz", ax=ax),
    ):
        with pytest.raises(ArgumentTypeError, match="ax: expected a matplotlib Axes, got Figure"):
            draw(Figure())
