"""Steps of an estimator beside the same filter in NumPy, and in generated C; what it leaves out, tells and refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.estimation.plain import PlainFilter
from gdalembert.errors import ArgumentError, ArgumentTypeError, EstimationError, EstimationWarning, UnknownNameError
from gdalembert.estimation.estimator import Estimator
from tests.estimation.test_filter_model import robot
from tests.helpers.models import relative_error

pytestmark = pytest.mark.system
DT = 1e-3


def estimator(dyn: gd.Dynamics, **options: Any) -> Estimator:
    """A filter of a robot that measures a rotation of its last frame, and the joint behind its base."""
    placement = gd.Kinematics.of(dyn.parameters).frame_placement("tool")
    nq = dyn.tree.nq
    axes = lambda q, p: placement(q, p)[:3, 0]  # noqa: E731
    outputs = {"axis": axes, "joint": lambda q: q[nq - 1 :]}
    return gd.Estimator(dyn, outputs, {"axis": 1e-3, "joint": [1e-4]}, effort_noise=0.3, **options)


def dynamics() -> gd.Dynamics:
    return robot(pin.JointModelSpherical(), pin.JointModelRUBZ(), pin.JointModelRY(), parameters={"payload": ["tool"]})


def samples(estimator: Estimator, count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Efforts, and samples near what a filter at rest expects."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(count, len(estimator._u)))
    y = np.asarray(estimator._model.outputs(estimator._x, u[0], estimator._p)[0]).ravel()
    return u, y + 1e-3 * rng.normal(size=(count, len(y)))


def interpreted(function: ca.Function) -> Any:
    return gd.compile(function, interpreter=True)


def begin(filter_: Estimator) -> None:
    q = np.r_[0.5, -0.5, 0.5, 0.5, np.cos(0.3), np.sin(0.3), 0.4]
    filter_.reset(q, [0.1, -0.2, 0.3, 0.4, -0.5], q_deviation=0.02)


@pytest.fixture(scope="module")
def filters() -> dict[str, Estimator]:
    options: dict[str, Any] = {"parameters": {"tool.m": (0.3, 0.01)}, "offsets": {"joint": (1e-3, 0.0)}}
    return {"all": estimator(dynamics(), gate=None, **options), "gated": estimator(dynamics(), gate=4.0, **options)}


def test_steps_are_those_of_the_filter_in_numpy(filters: dict[str, Estimator]) -> None:
    """Quaternions, a continuous joint, a parameter and an offset; few steps, for the plain covariance is less exact."""
    filter_ = filters["all"]
    begin(filter_)
    plain = PlainFilter(filter_, interpreted)
    for u, y in zip(*samples(filter_, 10), strict=True):
        q, v = filter_.step(u, y, DT)
        x = plain.step(u, y, DT)
        assert relative_error(np.r_[q, v], x[: len(q) + len(v)]) < 1e-8
        assert relative_error(list(filter_.parameters.values()), x[len(q) + len(v) :]) < 1e-8
        assert relative_error(filter_.covariance, plain.covariance) < 1e-8
        assert np.linalg.norm(q[:4]) == pytest.approx(1, abs=1e-12)
    assert list(filter_.parameters) == ["tool.m", "joint"]
    assert len(filter_.names) == len(filter_.covariance) == 12


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-4)])
def test_generated_c_equals_python(dtype: str, tolerance: float, filters: dict[str, Estimator], tmp_path: Path) -> None:
    filter_, real = filters["gated"], {"float64": "double", "float32": "float"}[dtype]
    begin(filter_)
    filter_.generate(tmp_path / "ekf.c", dtype=dtype)
    doubles = re.findall(r"\bdouble\b|\b(?:sqrt|fabs|fmin|fmax|sin|cos)\(", (tmp_path / "ekf.c").read_text())
    assert bool(doubles) == (real == "double")  # no promotion either: a Cortex-M4 computes doubles in software
    u, y = samples(filter_, 40)
    y[7, 1] += 1.0
    y[20:30, 3] = np.nan
    numbers = ["NAN" if np.isnan(x) else repr(x) for row in np.hstack([u, y]).tolist() for x in row]
    program = f"""#include <math.h>
#include <stdio.h>
#include "ekf.h"
static const {real} rows[][{u.shape[1] + y.shape[1]}] = {{{", ".join(numbers)}}};
int main(void) {{
  ekf_state filter = ekf_initial;
  for (int k = 0; k < {len(u)}; ++k) printf("%d\\n", ekf_step(&filter, rows[k], rows[k] + {u.shape[1]}, {DT}));
  for (int k = 0; k < {filter_._x.size}; ++k) printf("%.17g\\n", filter.x[k]);
  for (int k = 0; k < {filter_._r.size}; ++k) printf("%.17g\\n", filter.R[0][k]);
}}"""
    (tmp_path / "main.c").write_text(program, encoding="utf-8")
    compiler = shutil.which("cc") or "gcc"
    command = [compiler, "-std=c99", "-O1"]
    subprocess.run([*command, "-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "ekf.c"], cwd=tmp_path, check=True)
    subprocess.run([*command, "main.c", "ekf.o", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split()
    outliers = []
    for row, sample in zip(u, y, strict=True):
        filter_.step(row, sample, DT)
        outliers.append(len(filter_.outliers))
    found = np.array(printed[len(u) :], dtype=float)
    assert relative_error(found, np.r_[filter_._x, filter_._r.ravel()]) < tolerance
    assert [int(x) > 0 for x in printed[: len(u)]] == [x > 0 for x in outliers]
    assert outliers[7] == 1


def test_a_build_speaks(capfd: pytest.CaptureFixture[str]) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    for shown in (False, True):
        gd.Estimator(dyn, {"joints": lambda q: q}, {"joints": 1e-3}, effort_noise=0.3, progress=shown)
        assert capfd.readouterr().err.startswith("two_link_arm: estimator, " if shown else "")
    with pytest.raises(ArgumentTypeError, match=r"^Estimator: progress is 1; give True or False$"):
        gd.Estimator(dyn, {"joints": lambda q: q}, {"joints": 1e-3}, effort_noise=0.3, progress=1)  # type: ignore[arg-type]


def test_outliers_and_missing_samples_change_nothing(filters: dict[str, Estimator]) -> None:
    filter_ = filters["gated"]
    begin(filter_)
    u, y = samples(filter_, 1)
    results = []
    for sample in ({"axis": y[0, :3]}, np.r_[y[0, :3], np.nan], {"axis": y[0, :3], "joint": y[0, 3] + 1}):
        begin(filter_)
        results.append(np.r_[(*filter_.step(u[0], sample, DT), filter_.covariance.ravel())])
        assert filter_.outliers == (("joint",) if len(results) == 3 else ())
        assert np.isnan(filter_.innovations[3]) == (len(results) < 3)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


@pytest.mark.parametrize("name", ["all", "gated"])
def test_an_infinite_sample_is_beyond_the_gate(filters: dict[str, Estimator], name: str) -> None:
    """It is left out as a missing one, and told, with a gate and without."""
    filter_ = filters[name]
    begin(filter_)
    u, y = samples(filter_, 1)
    results = []
    for infinite in (np.nan, np.inf, -np.inf):
        begin(filter_)
        results.append(np.r_[(*filter_.step(u[0], np.r_[y[0, :3], infinite], DT), filter_.covariance.ravel())])
        assert filter_.outliers == (() if np.isnan(infinite) else ("joint",))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_what_is_told_and_refused(filters: dict[str, Estimator]) -> None:
    filter_ = filters["gated"]
    begin(filter_)
    u, y = samples(filter_, 1)
    before = filter_._state.copy()
    with pytest.raises(ArgumentError, match=r"u: entry .* is nan"):
        filter_.step(u[0] * np.nan, y[0], DT)
    with pytest.raises(EstimationError, match="not finite"):
        filter_.step(1e308 * np.ones(5), y[0], 1e30)
    assert np.array_equal(filter_._state[: filter_._x.size], before[: filter_._x.size])
    for dt in (1e300, 1e308):
        with pytest.raises(EstimationError, match=rf"the step of 1e\+{round(np.log10(dt))} s is not finite"):
            filter_.step(u[0], y[0], dt)
    with pytest.raises(ArgumentError, match="got inf; give one finite number"):
        filter_.step(u[0], y[0], np.inf)
    for wrong, words in (((u[0], y[0], 0.0), "dt"), ((u[0], y[0][1:], DT), "y has shape"), ((u[0][1:], y[0], DT), "u")):
        with pytest.raises(ArgumentError, match=words):
            filter_.step(*wrong)
    with pytest.raises(UnknownNameError, match="no output named 'axes'"):
        filter_.step(u[0], {"axes": y[0]}, DT)
    for _ in range(49):
        filter_.step(u[0], y[0] + 100, DT)
    with pytest.warns(EstimationWarning, match="no sample of 50 steps"):
        filter_.step(u[0], y[0] + 100, DT)


def test_a_sensor_that_is_left_out_is_told_once_by_its_name(filters: dict[str, Estimator]) -> None:
    """Beside others that are taken; missing samples do not end the row, samples within the gate do."""
    filter_ = filters["gated"]
    begin(filter_)
    y = samples(filter_, 1)[1][0]
    u, wrong, missing = np.zeros(5), y + np.r_[0, 0, 0, 100.0], np.r_[y[:3], np.nan]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sample in (*[wrong] * 49, y, *[wrong, missing] * 49):
            filter_.step(u, sample, 1e-5)
    with pytest.warns(EstimationWarning, match=r"output joint: 50 samples in a row .* units and sign"):
        filter_.step(u, wrong, 1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sample in (*[wrong] * 60, y, *[wrong] * 60):
            filter_.step(u, sample, 1e-5)
    begin(filter_)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(60):
            filter_.step(u, wrong + np.r_[0, 100.0, 0, 0], 1e-5)
    (only,) = told
    assert "output axis[1], joint: 50 samples" in str(only.message)


def test_steps_beyond_floating_point_are_refused_in_one_sentence() -> None:
    """Of an arm whose modes are checked."""
    link = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), gd.modes.clamped_free(2), modal_damping=0.01)
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": link})
    filter_ = gd.Estimator(arm, {"q": lambda q: q[:2]}, {"q": 1e-3}, effort_noise=0.1)
    for dt in (1e300, 1e308):
        filter_.reset([0.0, 0.0])
        with pytest.raises(EstimationError, match="s is not finite, and the state before it stands"):
            filter_.step([0.1, 0.0], [0.0, 0.0], dt)
    filter_._longest = 0.0
    with pytest.warns(EstimationWarning, match="too slow; give a shorter dt"):  # no substeps suffice
        filter_._check(1e6)


def test_a_filter_without_a_state_is_refused() -> None:
    dyn = robot(pin.JointModelRX())
    filter_ = gd.Estimator(dyn, {"q": lambda q: q}, {"q": 1e-3}, acceleration_noise=1.0)
    for call in (lambda: filter_.step([0], [0], DT), lambda: filter_.generate("ekf.c")):
        with pytest.raises(ArgumentError, match="reset"):
            call()
    filter_.reset([0.0])
    with pytest.raises(ArgumentError, match="a name as"):
        filter_.generate("1.c")


def test_steps_that_are_long_for_the_modes_are_told_and_stay_finite() -> None:
    """At many times the periods of the modes the covariance still has its sign."""
    beam = gd.Beam(1.0, 0.6, EI_z=10.0)
    link = gd.FlexibleLink(beam, gd.modes.clamped_free(2), modal_damping=0.01)
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": link})
    filter_ = gd.Estimator(arm, {"q": lambda q: q[:2]}, {"q": 1e-3}, effort_noise=0.1)
    filter_.reset([0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filter_.step([0.1, 0.0], [0.0, 0.0], 1e-3)
    with pytest.warns(EstimationWarning, match=r"the fastest mode, .* too slow; give substeps=\d+"):
        filter_.step([0.1, 0.0], [0.0, 0.0], 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)  # samples that no such motion can have
        for _ in range(100):
            filter_.step([0.1, 0.0], [0.0, 0.0], 1.0)
    assert np.linalg.eigvalsh(filter_.covariance).min() > -1e-12 * np.abs(filter_.covariance).max()
