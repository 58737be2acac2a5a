"""Packages in environments of their own, which are not run here: what they are asked, and how they are judged."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.common.robots import load, path
from benchmarks.common.tables import RESULTS
from benchmarks.peers import beside
from benchmarks.speed.speed import states


@pytest.fixture
def given() -> dict[str, np.ndarray]:
    return states(load(beside.ROBOT), beside.COMPARED)


def answers(monkeypatch: pytest.MonkeyPatch, found: dict) -> None:
    monkeypatch.setattr(beside, "answer", lambda *_: found)


def own_values(given: dict[str, np.ndarray], names: tuple[str, ...]) -> dict[str, list]:
    functions = {name: beside.functions()[name] for name in names}
    return {
        name: [f(*state).full().tolist() for state in zip(*[given[x] for x in "qva"[: f.n_in()]], strict=True)]
        for name, f in functions.items()
    }


def test_instructions_are_those_of_the_page_on_sizes(
    given: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the recorded answer, with our own values in place of theirs."""
    values = own_values(given, ("tau", "mass_matrix", "placement"))
    theirs = {"tau": 1282, "mass_matrix": 953, "placement": 276}
    answers(monkeypatch, {"version": "1.12.4", "casadi": "3.8.1", "values": values, "instructions": theirs})
    table = [line for line in beside.biorbd("python", given).splitlines() if line.startswith("|")]
    page = (RESULTS / "peers.md").read_text(encoding="utf-8")
    assert len(table) == 5
    assert [line for line in table if line not in page] == []
    sizes = (RESULTS / "sizes.md").read_text(encoding="utf-8")
    ours = {beside.functions()[name].n_instructions() for name in ("tau", "mass_matrix")}
    assert [n for n in ours if not re.search(rf"^\| panda7 \| {n} ", sizes, re.MULTILINE)] == []


def test_other_values_are_refused(given: dict[str, np.ndarray]) -> None:
    values = own_values(given, ("tau",))
    assert beside.difference("a peer", values, given) == 0
    values["tau"][7][2][0] += 1e-3
    with pytest.raises(SystemExit, match=r"a peer: tau differs by .* of its largest entry from gdalembert's"):
        beside.difference("a peer", values, given)


def test_a_biomod_has_the_numbers_of_the_model() -> None:
    model = load(beside.ROBOT)
    segments = beside.biomod(model).split("\nsegment ")[1:]
    assert [text.splitlines()[1] for text in segments] == ["parent root", *(f"parent s{k}" for k in range(1, 7))]
    for k, text in enumerate(segments, 1):
        body = model.inertias[k]
        numbers = [float(x) for x in re.findall(r"(?<!\w)-?\d[\d.]*(?:e[+-]\d+)?", text.partition("\nRT\n")[2])]
        exact = [*model.jointPlacements[k].homogeneous.ravel(), body.mass, *body.lever, *body.inertia.ravel()]
        assert numbers == exact
    model.addJoint(7, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    with pytest.raises(SystemExit, match=r"slide: a \.bioMod is written for RX, RY and RZ, not for JointModelPX"):
        beside.biomod(model)


def test_inertials_that_are_added_change_no_model() -> None:
    text = beside.with_inertials(path(beside.ROBOT))
    assert all(link.find("inertial") is not None for link in ET.fromstring(text).iterfind("link"))
    model, whole = pin.buildModelFromXML(text), pin.buildModelFromUrdf(str(path(beside.ROBOT)))
    assert list(model.inertias)[1:] == list(whole.inertias)[1:]


def test_base_parameters_have_one_span(given: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pinocchio's regressor, whose columns are chosen by QR, as figaroh chooses them."""
    from scipy.linalg import qr

    model = load(beside.ROBOT)
    data = model.createData()
    samples = zip(*(given[letter] for letter in "qva"), strict=True)
    blocks = np.array([pin.computeJointTorqueRegressor(model, data, *sample).copy() for sample in samples])
    rows = blocks.swapaxes(0, 1).reshape(-1, 70)
    chosen = qr(rows, mode="r", pivoting=True)[1][:43]
    tau = rows @ np.concatenate([body.toDynamicParameters() for body in model.inertias[1:]])
    values = np.linalg.lstsq(rows[:, chosen], tau, rcond=None)[0]
    found = {"version": "1.0.2", "regressor": rows[:, chosen].tolist(), "values": values.tolist()}
    answers(monkeypatch, found)
    assert "43 base\nparameters" in beside.figaroh("python", given)
    found["regressor"] = rows[:, chosen[1:]].tolist()
    found["values"] = values[1:].tolist()
    with pytest.raises(SystemExit, match="figaroh: 42 base parameters, ours 43"):
        beside.figaroh("python", given)


def test_an_environment_without_the_package_is_told() -> None:
    with pytest.raises(SystemExit, match="ModuleNotFoundError: No module named 'frax'"):
        beside.answer(sys.executable, "frax_batches.py", {})


def test_every_peer_is_recorded() -> None:
    page = (RESULTS / "peers.md").read_text(encoding="utf-8")
    assert re.findall("^## (.+)$", page, re.MULTILINE) == ["biorbd-casadi", "figaroh", "colmpc", "frax"]
