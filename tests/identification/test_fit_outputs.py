"""Parameters from outputs: of simulated arms, what data do not tell, filters and delays of sensors, and bad records."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import gdalembert as gd
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    IdentificationWarning,
    UnknownNameError,
    UnsupportedError,
)
from gdalembert.identification import OutputFit, Record, Sensor, fit_outputs

pytestmark = pytest.mark.extras
Array = npt.NDArray[np.float64]
T = np.arange(0.0, 1.2, 0.01)
NOISE = 0.01
"""Of what each output shows."""


def hub_and_beam(*parameters: str) -> gd.FlexibleArm:
    """One flexible link with a load, which turns about z without weight."""
    model = pin.buildModelFromXML(
        '<robot name="beam"><link name="base"/><link name="link"><inertial><origin xyz="0.4 0 0"/><mass value="0.4"/>'
        '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="tip"/><joint name="joint" type="revolute"><parent link="base"/><child link="link"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        '<joint name="end" type="fixed"><parent link="link"/><child link="tip"/><origin xyz="0.8 0 0"/></joint></robot>'
    )
    model.gravity.linear, model.armature[:] = np.zeros(3), 0.1
    beam = gd.Beam(0.8, 0.5, EI_z=6.0)
    link = gd.FlexibleLink(beam, gd.modes.hermite(), root=pin.SE3.Identity(), rayleigh=(0.0, 2e-3))
    kinds: dict[str, bool | list[str]] = {name: ["tip"] if name == "payload" else True for name in parameters}
    return gd.FlexibleArm(model, {"link": link}, parameters=kinds)


def effort(t: Array) -> Array:
    return np.column_stack([3 * np.sin(6 * t) + 2 * np.sign(np.sin(17 * t + 0.4))])


ARM = hub_and_beam("stiffness", "damping", "payload")
STRAIN = ARM.strain("link", fibre=2e-3)
OUTPUTS: dict[str, Callable[..., object]] = {
    "encoder": lambda q: q[0],
    "gauge": lambda q, gain: 1e3 * gain * STRAIN(q),
}
TRUE = {"link.stiffness_factor": 1.2, "link.damping_factor": 0.7, "tip.m": 0.3}
GAIN = 1.1
CHOSEN = list(TRUE)


@cache
def motion(seed: int = 0, noise: float = NOISE, motor: float = 1.0) -> Record:
    """A simulated run from a bent start, with noise in each output."""
    q0, v0 = np.zeros(ARM.tree.nq), np.zeros(ARM.tree.nv)
    q0[1] = 0.02
    u, rng = effort(T), np.random.default_rng(seed)
    run = gd.simulate(ARM, (q0, v0), T, motor * u, p=TRUE)
    gauge = 1e3 * GAIN * STRAIN.map(len(T))(run.q.T).full().ravel()
    clean = {"encoder": run.q[:, 0], "gauge": gauge}
    measured = {name: y + noise * y.std() * rng.normal(size=len(y)) for name, y in clean.items()}
    hub = np.column_stack([run.q[:, 0], run.v[:, 0], run.a[:, 0]])
    return Record(T, u=u, motion={"joint": hub}, outputs=measured)


def driven(record: Record) -> Record:
    return replace(record, motion=None)


def quiet(*arguments: object, **options: object) -> OutputFit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        return fit_outputs(*arguments, **options)  # type: ignore[arg-type]


def test_a_simulated_arm_driven_by_efforts() -> None:
    """Stiffness, damping, load, gain of the gauge and initial state, from an encoder and a gauge with 1 % noise."""
    record = driven(motion())
    fit = quiet(ARM, [record], OUTPUTS, parameters=CHOSEN, others={"gain": 1.0}, p={"tip.m": 0.2})
    expected = np.array([*TRUE.values(), GAIN])
    off = np.abs(fit.values - expected)
    assert np.all(off <= 3 * fit.standard_deviation)
    # the load and the damping of 120 samples are known to some per cent, the others better
    assert np.all(off <= 0.02 * expected + 3 * fit.standard_deviation * (fit.standard_deviation > 0.006 * expected))
    assert fit.standard_deviation.max() < 0.05
    assert all(98.5 < x < 99.5 for x in fit.fit["1"].values())
    assert fit.dynamics.natural_frequencies(np.zeros(3)) == pytest.approx(
        ARM.natural_frequencies(np.zeros(3), p=TRUE), rel=0.02
    )
    assert not fit.remarks


def test_derivatives_of_the_simulation_are_those_of_differences() -> None:
    """Of all unknowns, an initial state that is free included."""
    record = replace(
        driven(motion()), t=T[:30], u=effort(T[:30]), outputs={k: y[:30] for k, y in motion().outputs.items()}
    )
    fit = quiet(ARM, [record], OUTPUTS, parameters=CHOSEN, others={"gain": 1.0}, p={"tip.m": 0.2})
    errors, x = fit._errors, fit._errors.whole
    rows = errors.residuals(0, x, derivatives=True)[1]
    for k in range(len(x)):
        change = 1e-5 * np.eye(len(x))[k]
        left, right = (errors.residuals(0, x + sign * change, derivatives=False)[0] for sign in (-1, 1))
        # second differences of outputs that a load of 0.2 kg changes much
        assert rows[..., k] == pytest.approx(
            (left - right) / 2e-5, rel=1e-5, abs=1e-6 * np.abs(rows[..., k]).max() + 1e-9
        )


def test_a_hub_whose_motion_is_prescribed_needs_no_effort() -> None:
    """From the hub's motion to the gauge, from the first samples of the gauge, and another run predicted."""
    known = motion(noise=1e-4)
    record = replace(known, u=None, outputs={"gauge": known.outputs["gauge"]}, initial="measured")
    options = {"parameters": CHOSEN[:2], "others": {"gain": 1.0}, "p": TRUE}
    fit = quiet(ARM, [record], {"gauge": OUTPUTS["gauge"]}, **options)
    # the first samples, through which lines are laid, leave errors of some per cent in the initial state
    assert fit.parameters["link.stiffness_factor"] == pytest.approx(1.2, rel=0.05)
    assert fit.parameters["gain"] == pytest.approx(GAIN, rel=0.05)
    free = quiet(ARM, [replace(record, initial="free")], {"gauge": OUTPUTS["gauge"]}, **options)
    assert free.values == pytest.approx([1.2, 0.7, GAIN], rel=5e-3)
    prediction = fit.predict(record)
    assert prediction.predicted.ravel() == pytest.approx(fit.records["1"].predicted.ravel())
    assert prediction.fit["gauge"] > 90


def test_stiffness_and_masses_scale_together_where_no_effort_is_known() -> None:
    """Told as not known, with a deviation of inf; values then stay as they begin, as near as the others allow."""
    bare = hub_and_beam("stiffness", "damping")
    gauge = motion().outputs["gauge"]
    record = Record(T, motion=motion().motion, outputs={"gauge": gauge, "again": gauge}, initial="measured")
    strain = bare.strain("link", fibre=2e-3)
    outputs = {
        "gauge": lambda q, one, two: 1e3 * one * two * strain(q),
        "again": lambda q, one, two: 1e3 * one * two * strain(q),
    }
    with pytest.warns(IdentificationWarning, match="the data do not tell 'one', 'two': other values explain them"):
        fit = fit_outputs(bare, [record], outputs, others={"one": 1.0, "two": 1.0})
    assert np.isinf(fit.standard_deviation[2:]).all()
    assert np.isfinite(fit.standard_deviation[:2]).all()
    known = quiet(bare, [record], outputs, others={"one": 1.0, "two": 1.0}, prior={"two": (1.0, 0.01)})
    assert np.isfinite(known.standard_deviation).all()


def test_bounds_hold_and_are_told() -> None:
    record = driven(motion())
    options = {"parameters": CHOSEN, "others": {"gain": 1.0}, "p": {"tip.m": 0.2}}
    fit = quiet(ARM, [record], OUTPUTS, bounds={"link.stiffness_factor": (0.5, 1.1)}, **options)
    assert any(remark.startswith("at a bound") and "'link.stiffness_factor'" in remark for remark in fit.remarks)
    assert fit.at_bounds == ("link.stiffness_factor",)
    assert fit.parameters["link.stiffness_factor"] == pytest.approx(1.1, abs=1e-6)
    with pytest.raises(ArgumentError, match=r"tip\.m begins at 0\.2, beyond its bounds 0\.3 and 1"):
        fit_outputs(ARM, [record], OUTPUTS, bounds={"tip.m": (0.3, 1.0)}, **options)  # type: ignore[arg-type]


def test_a_sensor_that_filters_and_is_late() -> None:
    """sin through ω² / (s² + 2 ζ ω s + ω²), after its transient, and later by the delay."""
    t = np.arange(0, 12, 1e-3)
    sensor, s = Sensor(lambda q: q[0], low_pass=(2.0, 0.9), delay=0.0205), 2j * np.pi * 1.83
    y = np.sin(2 * np.pi * 1.83 * t)
    omega = 2 * np.pi * 2.0
    gain = omega**2 / (s**2 + 1.8 * omega * s + omega**2) * np.exp(-0.0205 * s)
    expected = np.imag(gain * np.exp(s * t))
    # linear between samples: second differences, (1e-3 * 11.5)² / 12
    assert sensor.seen(t, y, np.zeros(2))[6000:] == pytest.approx(expected[6000:], abs=3e-5)
    late = Sensor(lambda q: q[0], delay=0.0105).seen(t, 3 * t, np.zeros(2))
    assert late[100:] == pytest.approx(3 * (t[100:] - 0.0105))
    with pytest.raises(ArgumentError, match=r"Sensor: delay"):
        Sensor(lambda q: q[0], delay=-0.1)


BAD = {
    "unequal lengths": (
        {"outputs": {"encoder": np.zeros(5), "gauge": np.arange(120.0)}},
        "record 'a': output 'encoder' has 5 rows, and t has 120; give a row for each instant",
    ),
    "NaN": (
        {"outputs": {"gauge": np.where(T[7] == T, np.nan, T)}},
        "record 'a': output 'gauge': row 7 is [nan]; give numbers, or weight 0 where nothing was measured",
    ),
    "NaN in u": ({"u": np.full((120, 1), np.nan)}, "record 'a': u: row 0 is [nan]; give finite numbers"),
    "at rest": (
        {"outputs": {"gauge": np.full(120, 0.3)}},
        "record 'a': output 'gauge' is [0.3] in every sample, as of a dead sensor or a robot at rest",
    ),
    "no input": ({"u": None}, "record 'a': it has neither u nor motion; give what moves the robot"),
    "time": ({"t": np.where(T[9] == T, 0.0, T)}, "record 'a': t does not rise at row 9, from 0.08 to 0 s"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_records_are_refused_by_run_and_channel(name: str) -> None:
    changes, message = BAD[name]
    record = replace(driven(motion()), label="a", **changes)
    with pytest.raises(ArgumentError, match=re.escape(message)):
        fit_outputs(ARM, [record], OUTPUTS, others={"gain": 1.0})


def test_doubtful_channels_are_told() -> None:
    """A gauge in microstrain, and an effort that was cut."""
    record = driven(motion())
    micro = replace(record, label="a", outputs={**record.outputs, "gauge": 1e6 * np.asarray(record.outputs["gauge"])})
    smooth = np.clip(5 * np.sin(6 * T), -3.0, 3.0)[:, None]
    cut = replace(micro, u=smooth)
    fit = quiet(ARM, [cut], OUTPUTS, parameters=CHOSEN[:1], others={"gain": 1.0}, initial=(np.zeros(3), np.zeros(3)))
    text = "\n".join(fit.remarks)
    assert re.search(r"u of 'joint' in record 'a' stays at its largest value 3 in \d+% of the samples", text)
    assert re.search(r"output 'gauge' of record 'a' is .*e\+0[56] times as large .*check its unit", text)


def test_what_is_refused() -> None:
    record = driven(motion())
    with pytest.raises(ArgumentTypeError, match=r"records: got Record.*; give a list"):
        fit_outputs(ARM, record, OUTPUTS, others={"gain": 1.0})  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"link\.stiffness"):
        fit_outputs(ARM, [record], OUTPUTS, parameters=["link.stiffness"], others={"gain": 1.0})
    with pytest.raises(
        ArgumentError, match=r"output 'gauge': an expression at the sample has the inputs \['q', 'gain'\]"
    ):
        fit_outputs(ARM, [record], OUTPUTS)
    with pytest.raises(ArgumentError, match="'1' is the label of two"):
        fit_outputs(ARM, [replace(record, label="1"), replace(record, label="1")], OUTPUTS, others={"gain": 1.0})
    with pytest.raises(ArgumentError, match="initial='start'; give 'free', 'measured'"):
        fit_outputs(ARM, [record], OUTPUTS, others={"gain": 1.0}, initial="start")
    with pytest.raises(ArgumentError, match="others: 'q' is the name of another quantity"):
        fit_outputs(ARM, [record], OUTPUTS, others={"q": 1.0})
    with pytest.raises(ArgumentTypeError, match="parameters=3; give a list of names"):
        fit_outputs(ARM, [record], OUTPUTS, parameters=3, others={"gain": 1.0})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"parameters: 'tip\.m' is named twice"):
        fit_outputs(ARM, [record], OUTPUTS, parameters=["tip.m", "tip.m"], others={"gain": 1.0})


def test_one_name_of_a_parameter_is_a_list_of_one() -> None:
    record = driven(motion())
    options = {"others": {"gain": 1.0}, "p": TRUE}
    one, listed = (quiet(ARM, [record], OUTPUTS, parameters=x, **options) for x in (CHOSEN[0], CHOSEN[:1]))
    assert one.names == listed.names == (CHOSEN[0], "gain")
    assert np.array_equal(one.values, listed.values)


@pytest.mark.parametrize(
    ("kind", "coordinate", "cure"),
    [
        (pin.JointModelRUBZ, "joint", "take the joint as revolute, or drive it"),
        (pin.JointModelFreeFlyer, "joint[0]", "drive it"),
        (pin.JointModelPlanar, "joint[2]", "drive it"),
    ],
)
def test_a_motion_of_what_has_no_rate_is_refused(kind: type, coordinate: str, cure: str) -> None:
    """Of (cos, sin), and of a velocity in the body's frame: the tangent map looks like that of rates when neutral."""
    model = pin.Model()
    joint = model.addJoint(0, kind(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    dyn = gd.NewtonEuler(model)
    record = Record(T, motion={coordinate: np.sin(T)}, outputs={"rate": np.cos(T)})
    head = re.escape(f"fit_outputs: motion of {coordinate!r}: joint 'joint' is a ")
    with pytest.raises(UnsupportedError, match=rf"{head}\w+, whose v is not the rate of one entry of q; {cure}$"):
        fit_outputs(dyn, [record], {"rate": lambda v, gain: gain * v[0]}, others={"gain": 1.0})


def test_too_few_samples_are_refused() -> None:
    """As many numbers as unknowns, initial states included, and weights that leave few."""
    record = driven(motion())
    numbers = {name: np.asarray(y) for name, y in record.outputs.items()}
    short = replace(record, t=T[:5], u=effort(T[:5]), outputs={k: y[:5] for k, y in numbers.items()})
    message = "fit_outputs: the records have 10 numbers with a weight, and 10 are unknown, 6 of them of initial states"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        fit_outputs(ARM, [short], OUTPUTS, parameters=CHOSEN, others={"gain": 1.0})
    for count in (0, 2):
        few = replace(record, weights=dict.fromkeys(OUTPUTS, 1.0 * (np.arange(len(T)) < count)))
        with pytest.raises(ArgumentError, match=f"the records have {2 * count} numbers with a weight"):
            fit_outputs(ARM, [few], OUTPUTS, parameters=CHOSEN, others={"gain": 1.0})


@pytest.mark.parametrize("initial", ["free", "measured", (np.zeros(1), np.zeros(1))])
def test_a_motion_of_every_coordinate_leaves_outputs_alone(initial: str | tuple[Array, Array]) -> None:
    """Nothing is simulated: a gain and an offset of what follows from the motion are those of linear least squares."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    rows = np.column_stack([np.sin(3 * T), 3 * np.cos(3 * T), -9 * np.sin(3 * T)])
    y = 1.3 * rows[:, 0] ** 2 + 0.2 * rows[:, 2] + 0.01 * np.random.default_rng(0).normal(size=len(T))
    record = Record(T, motion={"joint": rows}, outputs={"y": y}, initial=initial)
    outputs = {"y": lambda q, a, gain, slope: gain * q[0] ** 2 + slope * a[0]}
    fit = fit_outputs(gd.NewtonEuler(model), [record], outputs, others={"gain": 1.0, "slope": 0.0})
    expected = np.linalg.lstsq(np.column_stack([rows[:, 0] ** 2, rows[:, 2]]), y, rcond=None)[0]
    assert fit.values == pytest.approx(expected, rel=1e-6)


def test_degrees_are_told_by_record_and_channel() -> None:
    """Where the simulation that they lead to ends, and where it leaves outputs that nothing explains."""
    record = motion()
    assert record.motion is not None
    degrees = {"joint": np.degrees(record.motion["joint"])}
    told = r"motion of 'joint' in record 'a' ranges over \d+ rad; check that its angles are in rad, not degrees"
    options = {"parameters": CHOSEN[:2], "others": {"gain": 1.0}}
    fit = quiet(ARM, [replace(record, label="a", motion=degrees)], OUTPUTS, **options)
    assert re.search(told, "\n".join(fit.remarks))
    farther = {"joint": 1e3 * degrees["joint"]}
    with pytest.raises(ArgumentError, match=f"the motion that is simulated .* leaves all bounds; {told}"):
        fit_outputs(ARM, [replace(record, label="a", motion=farther)], OUTPUTS, **options)  # type: ignore[arg-type]
    fit = quiet(ARM, [record], OUTPUTS, **options)
    assert "ranges over" not in "\n".join(fit.remarks)
    with pytest.raises(ArgumentError, match=f"predict: record 'a': .* leaves all bounds; {told}"):
        fit.predict(replace(record, label="a", motion=farther))


@pytest.mark.filterwarnings("error")
def test_an_output_that_a_record_lacks_is_no_warning() -> None:
    """One that a record of two does not have, one whose samples have no weight, and one that none has."""
    first, second = driven(motion()), driven(motion(1))
    lacking = replace(second, outputs={"encoder": second.outputs["encoder"]})
    unweighted = replace(second, weights={"gauge": 0.0})
    options = {"parameters": CHOSEN[:2], "others": {"gain": 1.0}, "p": TRUE}
    for other in (lacking, unweighted):
        fit = fit_outputs(ARM, [first, other], OUTPUTS, **options)  # type: ignore[arg-type]
        assert np.isnan(fit.fit["2"]["gauge"])
        assert fit.fit["1"]["gauge"] > 98
    alone = quiet(ARM, [lacking], OUTPUTS, **options)
    assert np.isinf(alone.standard_deviation[2])
    assert alone.parameters["link.stiffness_factor"] == pytest.approx(1.2, rel=0.1)


@pytest.mark.parametrize("cycles", [0.1, 1.0, 5.0, 50.0])
def test_a_filter_that_is_fast_for_the_samples(cycles: float) -> None:
    """Cycles a sample of its frequency, beside a simulation in fine steps of the input that is linear between samples.

    The first value and rate are not those of the input, so that transients remain.
    """
    t, damping = np.arange(0, 0.3, 0.01), 0.7
    y, omega, first = np.sin(8 * t) + 0.3 * np.cos(31 * t), 2 * np.pi * cycles / 0.01, np.array([0.5, -3.0])
    sensor = Sensor(lambda q: q[0], low_pass=(cycles / 0.01, damping))

    def rate(at: float, x: Array) -> list[float]:
        return [x[1], omega**2 * (float(np.interp(at, t, y)) - x[0]) - 2 * damping * omega * x[1]]

    x, fine = first, [first[0]]
    for begin, end in pairwise(t):
        x = solve_ivp(rate, (begin, end), x, method="Radau", rtol=1e-9, atol=1e-11).y[:, -1]
        fine.append(x[0])
    assert sensor.seen(t, y, first) == pytest.approx(np.array(fine), abs=1e-7)
    assert sensor.seen(t, np.ones_like(t), np.array([1.0, 0.0])) == pytest.approx(np.ones_like(t), abs=1e-12)


def test_gain_and_offset_of_a_motor_are_in_its_drive() -> None:
    """u of the record is the current; beside it an arm that efforts drive."""
    known = driven(motion(noise=1e-4))
    current = replace(known, u=(effort(T) - 0.2) / 1.7)
    options = {"parameters": CHOSEN[:2], "p": TRUE}
    fit = quiet(
        ARM, [current], OUTPUTS, others={"gain": 1.0, "motor": 1.0, "bias": 0.0},
        drive=lambda u, motor, bias: motor * u + bias, **options,
    )  # fmt: skip
    assert fit.values == pytest.approx([1.2, 0.7, GAIN, 1.7, 0.2], rel=5e-3)
    known_motor = quiet(ARM, [current], OUTPUTS, others={"gain": 1.0}, drive=lambda u: 1.7 * u + 0.2, **options)
    efforts = quiet(ARM, [known], OUTPUTS, others={"gain": 1.0}, **options)
    assert known_motor.values == pytest.approx(efforts.values, rel=1e-6)
    assert known_motor.standard_deviation == pytest.approx(efforts.standard_deviation, rel=1e-5)


def test_outputs_of_u_are_those_of_the_efforts_behind_the_drive() -> None:
    """Of a joint whose motion is prescribed: linear least squares; and what a drive cannot be."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    dyn, u = gd.NewtonEuler(model), np.cos(5 * T)
    y = 3.0 * (u + 0.4) + 0.01 * np.random.default_rng(0).normal(size=len(T))
    record = Record(T, u=u, motion={"joint": np.column_stack([T, T**0, 0 * T])}, outputs={"torque": y})
    unknown = {"motor": 1.0, "bias": 0.0}
    fit = fit_outputs(
        dyn, [record], {"torque": lambda u: u[0]}, others=unknown, drive=lambda u, motor, bias: motor * u + bias
    )
    expected = np.linalg.lstsq(np.column_stack([u, np.ones(len(T))]), y, rcond=None)[0]
    assert fit.values == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ArgumentError, match=r"fit_outputs: drive gives 2 efforts; give 1"):
        fit_outputs(dyn, [record], {"torque": lambda u: u[0]}, others=unknown, drive=lambda u: ca.vertcat(u, u))


@pytest.mark.long
def test_a_flexible_joint_and_a_flexible_link() -> None:
    """Stiffness and damping of a gear and of the link behind it, from the rotor, the tip and a gauge with 1 % noise."""
    beam = gd.Beam(0.8, 0.45, EI_z=20.0)
    arm = gd.FlexibleArm(
        gd.load_urdf("two_link_flexible"),
        {"link2": gd.FlexibleLink(beam, gd.modes.hermite(), rayleigh=(0.0, 2e-3))},
        joints={"joint1": gd.FlexibleJoint(60.0, 0.2, 0.5)},
        parameters=["stiffness", "damping"],
    )
    rotor, strain = arm.coordinate_names.index("joint1 rotor"), arm.strain("link2", fibre=2e-3)
    outputs: dict[str, Callable[..., object]] = {
        "motors": lambda q: ca.vertcat(q[rotor], q[1]),
        "gauge": lambda q: 1e3 * strain(q),
    }
    true = dict(zip(arm.parameters.names, (1.3, 0.8, 0.7, 1.4), strict=True))
    t = np.arange(0.0, 1.5, 0.01)
    u = np.column_stack([12 * np.sin(5 * t) + 6 * np.sign(np.sin(23 * t)), 4 * np.sin(9 * t + 1)])
    run, rng = gd.simulate(arm, (np.zeros(arm.tree.nq), np.zeros(arm.tree.nv)), t, u, p=true), np.random.default_rng(0)
    clean = {"motors": run.q[:, [rotor, 1]], "gauge": 1e3 * strain.map(len(t))(run.q.T).full().T}
    measured = {name: y + NOISE * y.std(axis=0) * rng.normal(size=y.shape) for name, y in clean.items()}
    fit = quiet(arm, [Record(t, u=u, outputs=measured)], outputs)
    expected = np.array([*true.values()])
    off = np.abs(fit.values - expected)
    assert np.all(off <= 3 * fit.standard_deviation)
    assert np.all(fit.standard_deviation <= 0.05 * expected)
    assert all(98.5 < x < 99.5 for x in fit.fit["1"].values())


@pytest.mark.parametrize("factor", [0.2, 0.35])
def test_segments_converge_from_values_that_are_far(factor: float) -> None:
    """To the estimate of whole records from near, where whole records alone end elsewhere."""
    record = driven(motion())
    options = {"parameters": CHOSEN, "others": {"gain": 1.0}, "bounds": dict.fromkeys(CHOSEN, (1e-3, 100.0))}
    near = quiet(ARM, [record], OUTPUTS, p=TRUE, **options)
    far = {**TRUE, "link.stiffness_factor": factor * TRUE["link.stiffness_factor"]}
    whole = quiet(ARM, [record], OUTPUTS, p=far, **options)
    assert abs(whole.values[0] - near.values[0]) > 10 * near.standard_deviation[0]
    fit = quiet(ARM, [record], OUTPUTS, p=far, segments=4, **options)
    assert fit.values == pytest.approx(near.values, rel=1e-6)
    assert fit.standard_deviation == pytest.approx(near.standard_deviation, rel=1e-6)
    assert fit.nominal[0] == far["link.stiffness_factor"]


def test_a_start_is_read_where_a_fast_mode_swings_too() -> None:
    """From a gauge with 0.5 % noise, behind a hub at rest: the second mode is half of the rate in five samples."""
    t, begin = np.arange(0.0, 0.8, 0.004), (np.array([0.0, 0.02, 0.03]), np.array([0.0, 0.1, -3.0]))
    hub, rng = {"joint": np.zeros((len(t), 3))}, np.random.default_rng(0)
    known = Record(t, motion=hub, outputs={"gauge": np.sin(t)}, initial=begin)
    fit = quiet(ARM, [known], {"gauge": OUTPUTS["gauge"]}, parameters=[], others={"gain": GAIN}, p=TRUE)
    shown = fit.predict(known).predicted[:, 0]
    noisy = {"gauge": shown + 0.005 * shown.std() * rng.normal(size=len(t))}
    # 44 % from five samples
    assert fit.predict(replace(known, outputs=noisy, initial="measured")).fit["gauge"] > 98


def test_integration_steps_are_those_of_the_estimate() -> None:
    """A start that is three times as stiff takes more of them, whose error is another damping."""
    record = driven(motion())
    options = {"parameters": CHOSEN, "others": {"gain": 1.0}, "bounds": dict.fromkeys(CHOSEN, (1e-3, 100.0))}
    far = {**TRUE, "link.stiffness_factor": 3 * TRUE["link.stiffness_factor"]}
    near, fit = (quiet(ARM, [record], OUTPUTS, p=p, **options) for p in (TRUE, far))
    errors, samples = fit._errors, fit._errors.samples[0]
    assert errors.paced_by(errors.start).steps(samples) > errors.steps(samples)
    assert fit.values == pytest.approx(near.values, rel=1e-6)
    assert fit.standard_deviation == pytest.approx(near.standard_deviation, rel=1e-6)
    other = replace(record, initial="measured")
    assert fit.predict(other).predicted == pytest.approx(near.predict(other).predicted, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("initial", ["free", "measured"])
def test_segments_and_priors_leave_the_estimate_from_near_as_it_is(initial: str) -> None:
    """A prior holds about its value, not about what segments alone tell."""
    options = {"parameters": CHOSEN, "others": {"gain": 1.0}, "initial": initial}
    options |= {"prior": {"link.stiffness_factor": (1.0, 0.01)}}
    one, four = (quiet(ARM, [driven(motion())], OUTPUTS, p=TRUE, segments=k, **options) for k in (1, 4))
    assert one.values[0] < 1.19
    assert four.values == pytest.approx(one.values, rel=1e-5)
    assert four.standard_deviation == pytest.approx(one.standard_deviation, rel=1e-4)


def test_segments_have_samples_enough() -> None:
    record = replace(driven(motion()), label="a")
    options = {"parameters": CHOSEN[:1], "others": {"gain": 1.0}}
    message = "fit_outputs: segments=13: record 'a' has 120 samples; give at most 12, 10 samples for each"
    with pytest.raises(ArgumentError, match=message):
        fit_outputs(ARM, [record], OUTPUTS, segments=13, **options)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="segments"):
        fit_outputs(ARM, [record], OUTPUTS, segments=0, **options)  # type: ignore[arg-type]
