"""The benchmark of a real robot, on a folder that is like that of the data."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy import signal

import gdalembert as gd
from benchmarks.common import robots
from benchmarks.identification import daisy, folders, panda, quanser, talos, tx40, ur10e

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
    monkeypatch.setattr(quanser, "SHORTEST", 0.4)
    monkeypatch.setattr(quanser, "RESULTS", tmp_path)
    expected = of.at(TRUE).natural_frequencies(np.zeros(6), joints="locked")[:2] / (2 * np.pi)
    for others, names in (([other], ["e", "f"]), ([], ["a", "b", "c", "d"])):
        monkeypatch.setattr(sys, "argv", ["quanser", str(folder), *map(str, others)])
        quanser.main()
        lines = [line.split() for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
        assert [words[0] for words in lines] == [*names, "modes", "parameters"]
        assert all(float(x) < 1 for words in lines[:-2] for x in words[1:])
        assert all(len(words) == 3 for words in lines[:-1])
        assert [float(x) for x in lines[-2][1:]] == pytest.approx(expected, rel=0.02)
        assert lines[-1] == ["parameters", "8"]
        assert (tmp_path / "quanser.md").exists() == (not others)
    assert [*fits[0].records] == ["a", "b", "c"]
    page = (tmp_path / "quanser.md").read_text(encoding="utf-8")
    assert re.findall(r"\| (\w) .*fitted", page) == ["a", "b", "c"]
    swinging = dict(re.findall(r"\| (\w) from 1 s \| (.*) \|", page))
    assert [*swinging] == ["a", "b", "c", "d"]
    assert all(float(x) < 5 for row in swinging.values() for x in row.split(" | "))
    assert not quanser.in_mid_swing({})
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match="no CSV file with the column gauge1_rad; give the folder of the windows"):
        quanser.windows(tmp_path / "empty")


def table_rows(page: str) -> dict[str, list[str]]:
    """Cells of the tables of a page, by the first one of each row."""
    return {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in page.splitlines()}


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
    rows = table_rows(page)
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


def write_tx40(folder: Path, count: int) -> None:
    """A motion of motors and what drives them, of a PUMA with the gears of the TX40 whose last body is a point."""
    model, rng, t = gd.load_urdf("puma560"), np.random.default_rng(1), np.arange(count) / tx40.RATE
    model.armature[:] = 0.0  # rotors are the motors'
    motors = {f"motor {k + 1}": gd.Motor(0.3, viscous, coulomb) for k, (viscous, coulomb) in enumerate(TX40_FRICTION)}
    columns = dict(zip(motors, tx40.B.T.tolist(), strict=True))
    dyn = gd.NewtonEuler(model, actuation=columns, motors=motors)
    q, v, a = (np.zeros((6, count)) for _ in range(3))
    for w in (7.0, 12.0, 19.0):
        size, phase = rng.uniform(0.1, 0.25, (6, 1)), rng.uniform(0, 6, (6, 1))
        q += size * np.sin(w * t + phase)
        v += w * size * np.cos(w * t + phase)
        a -= w**2 * size * np.sin(w * t + phase)
    u = np.linalg.solve(tx40.B, dyn.inverse_dynamics(q, v, a).full()).T
    u += 0.02 * u.std(axis=0) * rng.normal(size=u.shape)
    turned = (q.T - tx40.ZERO) @ tx40.RATIOS.T + 1e-4 * rng.normal(size=u.shape)
    header = ",".join(f"m{k}" for k in range(1, 7))
    for name, rows in (("pos_read_data", turned), ("curr_data", u / tx40.GEARS)):
        np.savetxt(folder / f"{name}.csv", rows, fmt="%.8g", delimiter=",", header=header, comments="")
    shutil.copy(robots.path("puma560"), folder / "tx40_mdh_modified.urdf")


TX40_FRICTION = ((8.0, 7.0), (5.5, 8.0), (2.0, 6.0), (1.1, 2.5), (1.2, 3.0), (0.6, 2.0))


@pytest.mark.long
def test_currents_of_a_simulated_wrist_with_coupled_motors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torques of the samples held back are predicted to their noise, friction of all motors is found."""
    monkeypatch.setattr(tx40, "ROWS", {"fitted": slice(0, 9000), "held back": slice(9500, 14000)})
    write_tx40(tmp_path, 14000)
    page = tx40.page(tmp_path)
    rows = table_rows(page)
    size, fit = (np.array(rows[name], dtype=float) for name in ("what was measured", "fit"))
    assert np.all(fit < 0.05 * size)
    assert np.all(np.array(rows["held back, every sample"], dtype=float) < 5.0)
    for k, kind in enumerate(("viscous", "coulomb")):
        assert np.array(rows[f"{kind}, fit"], dtype=float) == pytest.approx(np.array(TX40_FRICTION)[:, k], rel=0.1)
    assert rows["viscous, published"] == ["8.05", "5.53", "1.97", "1.11", "–", "0.62"]


def write_matlab(folder: Path) -> None:
    """A model of constant inertias, of which joint 1 has 2 cos(q2) more, and joints 1 and 7 share 0.1 sin(q7)."""
    stack = ["0.5" if k in (0, 2, 5, 9, 14, 20, 27) else "0" for k in range(28)]
    stack[0], stack[21] = "a4.*(4.0e0)+t2.*2.0e+0", "t3.*1.0e-1"
    head = "% q1 = comment;\nfunction f = get(q)\nq1 = q(1);\nq2 = q(2);\nq7 = q(7);\na4 = 0.125;\ng0 = 9.80665;\n"
    lines = f"t2 = cos(q2);\nt3 = sin(q7);\nt4 = t3.^2;\nBstack_hat = [{';'.join(stack)}];\n\nMassMatrix = [...\n 0 ];"
    (folder / "get_MassMatrix.m").write_text(head + lines, encoding="utf-8")
    gravity = "t2 = sin(q2);\ng_li_hat = [0;g0.*t2.*(-3.0);0;0;0;0;0];\n"
    (folder / "get_GravityVector.m").write_text(head + gravity, encoding="utf-8")
    friction = ["0.5,0.5,0.5,0.5,0.5,0.5,0.5", *["0,0,0,0,0,0,0"] * 2, "5,5,5,5,5,5,5"]
    text = ";...\n        ".join(friction)
    (folder / "get_FrictionTorque.m").write_text(
        f"    fp = [...\n        {text}];\n\n    A = fp(1,:);\n", encoding="utf-8"
    )


def test_matlab_text_of_a_published_model(tmp_path: Path) -> None:
    """M a + c + g + friction; c of an M that depends on q, by hand."""
    write_matlab(tmp_path)
    q, v, a = np.random.default_rng(2).normal(size=(3, 7))
    expected = 0.5 * a + 0.5 / (1 + np.exp(-5 * v)) - 0.25
    expected[0] += 2 * np.cos(q[1]) * a[0] + 0.1 * np.sin(q[6]) * a[6]
    expected[0] += -2 * np.sin(q[1]) * v[0] * v[1] + 0.1 * np.cos(q[6]) * v[6] ** 2
    expected[1] += np.sin(q[1]) * v[0] ** 2 - 3 * 9.80665 * np.sin(q[1])
    expected[6] += 0.1 * np.sin(q[6]) * a[0]
    assert panda.published(tmp_path)(q, v, a).full().ravel() == pytest.approx(expected, rel=1e-12)
    text = (tmp_path / "get_GravityVector.m").read_text(encoding="utf-8")
    for wrong, message in (
        ("g_hat = [", "has no g_li_hat"),
        ("g_li_hat = [open('x');", 'cannot read "open'),
        ("g_li_hat = [q.shape;", "cannot read 'q.shape"),
        ("g_li_hat = [().__class__;", "cannot read '"),
    ):
        (tmp_path / "get_GravityVector.m").write_text(text.replace("g_li_hat = [", wrong), encoding="utf-8")
        with pytest.raises(SystemExit, match=message):
            panda.published(tmp_path)


@pytest.mark.long
def test_torques_of_a_simulated_panda(tmp_path: Path) -> None:
    """The fit predicts the samples held back to their noise; the shipped model, without friction, does not."""
    write_matlab(tmp_path)
    model, rng = gd.load_urdf("panda7"), np.random.default_rng(3)
    dyn = gd.NewtonEuler(model, friction={name: gd.Friction(0.5, 0.8) for name in model.names[1:]})
    t = np.cumsum(rng.uniform(0.8e-3, 1.2e-3, 12000))
    q, v, a = (np.zeros((7, len(t))) for _ in range(3))
    q += np.array([0, 0, 0, -1.5, 0, 1.5, 0])[:, None]
    for w in (0.9, 1.7, 2.9, 4.1):
        size, phase = rng.uniform(0.1, 0.35, (7, 1)), rng.uniform(0, 6, (7, 1))
        q += size * np.sin(w * t + phase)
        v += w * size * np.cos(w * t + phase)
        a -= w**2 * size * np.sin(w * t + phase)
    tau = dyn.inverse_dynamics(q, v, a).full()
    for name, values, noise in (("positions", q, 0.0), ("velocity", v, 5e-3), ("torques", tau, 0.05)):
        rows = (values + noise * rng.normal(size=values.shape)).T.ravel()
        np.savetxt(tmp_path / f"exciting_traj_{name}.txt", rows, fmt="%.6g")
    np.savetxt(tmp_path / "exciting_traj_time.txt", t, fmt="%.6g")
    rows = {
        line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:]
        for line in panda.page(tmp_path).splitlines()
    }
    shipped, theirs, *fits = (
        np.array(rows[name], dtype=float)
        for name in ("the shipped `panda7`, which has the hand", "published model and friction", "fit",
                     "fit, smoothing 0.1, offsets")
    )  # fmt: skip
    assert theirs.min() > 10.0  # of another robot
    for fitted in fits:
        assert np.all(fitted < 0.3 * shipped)
    assert fits[0].max() < 10.0
    (tmp_path / "exciting_traj_time.txt").write_text("0\n1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="2 instants, but 84000, 84000, 84000 lines"):
        panda.signals(tmp_path)


def test_a_record_like_that_of_daisy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two modes simulated by matrix exponentials are told by half of the record; the lines, and the page of results."""
    rates, damping, gains = 2 * np.pi * np.array([0.06, 0.12]), np.array([0.008, 0.005]), (0.1, 0.5, -0.4, 0.3)
    t, rng = np.arange(512.0), np.random.default_rng(0)
    u, shown = rng.normal(size=len(t)), np.zeros(len(t))
    for rate, zeta, of_q, of_a in zip(rates, damping, gains[:2], gains[2:], strict=True):
        a = np.array([[0.0, 1.0], [-(rate**2), -2 * zeta * rate]])
        c = [[of_q - of_a * rate**2, -2 * of_a * zeta * rate]]
        shown += signal.lsim((a, [[0.0], [1.0]], c, [[of_a]]), u, t)[1]
    rows = np.column_stack([t, u, shown + 0.01 * shown.std() * rng.normal(size=len(t))])
    header = "sample,torque,acceleration"
    np.savetxt(tmp_path / daisy.FILE, rows, delimiter=",", header=header, comments="")
    monkeypatch.setattr(sys, "argv", ["daisy", str(tmp_path)])
    monkeypatch.setattr(daisy, "RESULTS", tmp_path)
    daisy.main()
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert [words[0] for words in lines] == ["fit", "mode", "mode", "parameters"]
    assert all(98.5 < float(x) < 99.5 for x in lines[0][1:])
    told = np.array([words[1:] for words in lines[1:3]], dtype=float)
    assert told == pytest.approx(np.column_stack([rates / (2 * np.pi), damping]), abs=2e-4)
    assert lines[3] == ["parameters", "8"]
    assert "smoke test" in " ".join((tmp_path / "daisy.md").read_text(encoding="utf-8").split())
