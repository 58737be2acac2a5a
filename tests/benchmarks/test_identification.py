"""The benchmark of a real robot, on a folder that is like that of the data."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from benchmarks.identification import folders, quanser, talos, ur10e

pytestmark = pytest.mark.extras


def test_published_parameters_are_read_in_their_order(tmp_path: Path) -> None:
    """Bodies as Ixx Ixy Ixz Iyy Iyz Izz, first moments and mass; viscous, Coulomb and offset by joints."""
    model = robots.load("ur5")
    bodies = np.array([model.inertias[k].toDynamicParameters() for k in ur10e.JOINTS])
    theirs = bodies[:, [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]]
    friction = np.arange(18.0).reshape(6, 3)
    lines = {"drvGains": np.full(6, 10.0), "pi_drvs": np.full(6, 0.1), "pi_frcn": friction, "pi_rgd": theirs}
    text = "\n\n".join(f"{name} = [{' '.join(map(repr, x.ravel().tolist()))}]" for name, x in lines.items())
    (tmp_path / "published_parameters.txt").write_text(text, encoding="utf-8")
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 6))
    motion = gd.identification.Signals(np.arange(5.0), 1.0, q, v, a, None, np.zeros((5, 6)), 0.0)
    found = ur10e.Published.read(tmp_path).torques(model, motion)
    data = model.createData()
    expected = [pin.rnea(model, data, *state).copy() for state in zip(q, v, a, strict=True)]
    expected += 0.1 * a + friction[:, 0] * v + friction[:, 1] * np.sign(v) + friction[:, 2]
    assert found == pytest.approx(np.array(expected), rel=1e-12)
    still = replace(motion, v=np.zeros((5, 6)))
    free = ur10e.Published.read(tmp_path).torques(model, still)
    held = ur10e.Published.read(tmp_path).torques(model, still, held=True)
    assert np.abs(held) == pytest.approx(np.maximum(0.0, np.abs(free) - friction[:, 1]))  # nearest to no current
    assert folders.relative(0.9 * found, found) == pytest.approx(np.full(6, 10.0))
    (tmp_path / "published_parameters.txt").write_text(text.replace("pi_rgd", "other"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"has no pi_rgd = "):
        ur10e.Published.read(tmp_path)


def test_both_filters_follow_a_motion(tmp_path: Path) -> None:
    t = np.arange(5100) / ur10e.RATE
    wave, speed = np.sin(0.5 * t)[:, None], 0.5 * np.cos(0.5 * t)[:, None]
    rows = np.hstack([t[:, None], *(np.tile(x, 6) for x in (wave, speed, 0 * wave, wave, wave))])
    name = "loaded_50s_14_harmonics"
    np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",")
    first = ur10e.ROWS[name][0] - 1
    for motion in (ur10e.signals(tmp_path, name), ur10e.with_their_filters(tmp_path, name)):
        start = t[first] if motion.tau is not None else 0.0  # of ours, times begin with the first row
        middle, at = slice(100, -100), motion.t + start
        assert motion.v[middle, 3] == pytest.approx(0.5 * np.cos(0.5 * at[middle]), abs=1e-3)
        assert motion.a[middle, 3] == pytest.approx(-0.25 * np.sin(0.5 * at[middle]), abs=1e-3)


TRUE = {**quanser.BEGIN, "link1.stiffness_factor": 0.5, "link2.stiffness_factor": 0.8, "motor.m": 1.3, "load.m": 0.17}
GAINS = (0.35, 0.4)


def write_window(of: gd.FlexibleArm, path: Path, seed: int) -> None:
    """Hubs and gauges of the simulated arm, from rest, in the columns of the data."""
    t, rng = np.arange(0.0, 1.5, 0.004), np.random.default_rng(seed)
    phases, sizes = rng.uniform(0, 6, (2, 3)), np.array([[0.4], [0.1]]) * rng.uniform(0.5, 1.0, (2, 3))
    waves = [sizes[k] * np.sin(np.outer(t, [4.0, 9.0, 13.0]) + phases[k]) for k in range(2)]
    u = np.column_stack([wave.sum(axis=1) for wave in waves]) * np.sin(np.pi * np.minimum(t, 0.5))[:, None] ** 2
    run = gd.simulate(of, (np.zeros(of.tree.nq), np.zeros(of.tree.nv)), t, u, p=TRUE)
    shown = [
        [float(gauge(q, gain)) for q in run.q] for gauge, gain in zip(quanser.outputs(of).values(), GAINS, strict=True)
    ]
    rows = np.column_stack([t, run.q[:, :2], *shown])
    header = "t_s,theta1_rad,theta2_rad,gauge1_rad,gauge2_rad"
    np.savetxt(path, rows, delimiter=",", header=header, comments="")


@pytest.mark.long
def test_windows_of_a_simulated_quanser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three windows are fitted, gauges of others predicted; the lines that are printed, and the page of results."""
    of, folder, other = quanser.arm(), tmp_path / "folder", tmp_path / "other"
    for directory, names in ((folder, "abcd"), (other, "ef")):
        directory.mkdir()
        for name in names:
            write_window(of, directory / f"{name}.csv", ord(name))
    (folder / "0 notes.csv").write_text("not,a,window\n", encoding="utf-8")
    fits = list[gd.identification.OutputFit]()

    def once(*arguments: object) -> gd.identification.OutputFit:
        fits.append(fits[0] if fits else fitted(*arguments))  # type: ignore[arg-type]
        return fits[0]

    fitted = quanser.fitted
    monkeypatch.setattr(quanser, "fitted", once)
    monkeypatch.setattr(quanser, "RESULTS", tmp_path)
    expected = of.at(TRUE).natural_frequencies(np.zeros(6), joints="locked")[:2] / (2 * np.pi)
    for others, names in (([other], ["e", "f"]), ([], ["a", "b", "c", "d"])):
        monkeypatch.setattr(sys, "argv", ["quanser", str(folder), *map(str, others)])
        quanser.main()
        lines = [line.split() for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
        assert [words[0] for words in lines] == [*names, "modes", "parameters"]
        # the filter of the encoders, and lines through the first samples, leave some per cent
        assert all(float(x) < 8 for words in lines[:-2] for x in words[1:])
        assert all(len(words) == 3 for words in lines[:-1])
        assert [float(x) for x in lines[-2][1:]] == pytest.approx(expected, rel=0.02)
        assert lines[-1] == ["parameters", "8"]
        assert (tmp_path / "quanser.md").exists() == (not others)
    assert [*fits[0].records] == ["a", "b", "c"]
    page = (tmp_path / "quanser.md").read_text(encoding="utf-8")
    assert re.findall(r"\| (\w) .*fitted", page) == ["a", "b", "c"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match="no CSV file with the column gauge1_rad; give the folder of the windows"):
        quanser.windows(tmp_path / "empty")


def write_talos(folder: Path, noise: float) -> None:
    """Positions that a TALOS of other placements has, and these as FIGAROH writes its estimate."""
    rng, moved = np.random.default_rng(0), dict[str, np.ndarray]()
    names = ["torso_1_joint", "torso_2_joint", *(f"arm_left_{k}_joint" for k in range(1, 8))]
    full = gd.load_urdf(robots.example(talos.URDF), mimic=False, check="off")
    others = [full.getJointId(name) for name in full.names[1:] if name not in names]
    model = pin.buildReducedModel(full, others, pin.neutral(full))
    for name in names:
        moved[name] = rng.uniform(-0.01, 0.01, 6)
    point, base = np.array([0.05, -0.01, -0.07]), pin.SE3(pin.rpy.rpyToMatrix(0.1, -0.2, 0.3), np.array([0.2, 0.1, 0]))
    moved["torso_1_joint"] = np.concatenate([base.translation, [0.1, -0.2, 0.3]])
    for joint, name in enumerate(model.names):
        if joint > 1:
            place = model.jointPlacements[joint]
            model.jointPlacements[joint] = pin.SE3(
                pin.rpy.rpyToMatrix(moved[name][3:]) @ place.rotation, place.translation + moved[name][:3]
            )
    data, rows = model.createData(), []
    for t in range(61):
        q = dict(zip(model.names[1:], rng.uniform(model.lowerPositionLimit, model.upperPositionLimit), strict=True))
        pin.forwardKinematics(model, data, np.array([*q.values()]))
        x = base.act(data.oMi[model.njoints - 1].act(point)) + noise * rng.normal(size=3)
        rows.append([float(t), *x, *(q[name] for name in names)])
    header = ",".join(["t", "x1", "y1", "z1", *names])
    np.savetxt(folder / talos.SAMPLES, rows, delimiter=",", header=header, comments="")
    estimate = [f"d_{kind}{axis}_{name} + 1.0*d_other,{float(moved[name][3 * k + j])!r},1.0E-06,0.1%"
                for name in names for k, kind in enumerate(("p", "phi")) for j, axis in enumerate("xyz")]  # fmt: skip
    estimate += [f"pEE{axis}_1,{x},1.0E-06,0.1%" for axis, x in zip("xyz", point.tolist(), strict=True)]
    text = "\n".join(["BASE PARAMETER,VALUE,STANDARD DEV,PERCENTAGE_DEV", *estimate, ""])
    (folder / talos.ESTIMATE).write_text(text, encoding="utf-8")


@pytest.mark.long
def test_positions_of_a_simulated_talos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The published estimate, the fit and SciPy leave the noise of the positions; base and tool alone do not."""
    (tmp_path / "data").mkdir()
    write_talos(tmp_path / "data", 2e-4)
    monkeypatch.setattr(folders, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["talos", str(tmp_path)])
    talos.main()
    page = (tmp_path / "talos.md").read_text(encoding="utf-8")
    rows = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in page.splitlines()}
    noise = 2e-1 * np.sqrt(3)
    assert float(rows["published estimate"][2]) == pytest.approx(noise, rel=0.15)
    assert rows["all placements"][0] == "39 of 39"
    before, after, last, fifth = map(float, rows["all placements"][1:])
    assert before > 100
    assert after < noise
    assert 0.8 * noise < min(last, fifth)
    assert max(last, fifth) < 3 * noise
    assert float(rows["base and tool"][2]) > 3 * noise
    ours, near, far = (float(rows[name][0]) for name in ("this package", "SciPy from there", "SciPy from the model"))
    assert after == pytest.approx(ours, abs=1e-3)
    assert near == pytest.approx(ours, rel=1e-5)
    assert far == pytest.approx(ours, rel=1e-3)
    with pytest.raises(SystemExit, match=r"no file talos_left_arm_02_10_contact\.csv in it; give the folder"):
        talos.page(tmp_path / "data" / "nothing")
