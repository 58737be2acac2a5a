"""The robots that move in closed loops: their problems, their references, and the motion between two ticks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import load
from gdalembert import ocp
from gdalembert.spatial.arrays import Array

INTERVALS = 20
EASY, SATURATED, KICKED = "easy", "saturated", "kicked"
KICKS_EVERY = 5
"""Ticks between two kicks."""


class Given(NamedTuple):
    """What a tick is given beside the state: parameters, and the schedule of contacts where there is one."""

    values: Mapping[str, Array]
    schedule: Sequence[str] | None = None


class Plant:
    """A robot between two ticks, by the explicit midpoint rule on its group, with steps of at most ``step`` seconds."""

    def __init__(self, con: gd.ConstrainedDynamics, step: float) -> None:
        dyn, s = con.dynamics, con.symbols("q", "v") | {"u": ca.SX.sym("u", con.dynamics.nu)}
        tau = dyn.actuators.tau(s["q"], s["u"])
        a = con.forward_dynamics(s["q"], s["v"], tau)[0] if con.nc else dyn.forward_dynamics(s["q"], s["v"], tau)
        self._rate = gd.compile(ca.Function("rate", list(s.values()), [a], list(s), ["a"]))
        self._integrate, self._step = gd.compile(gd.Kinematics(con.tree).integrate), step

    def __call__(self, q: Array, v: Array, u: Array, duration: float) -> tuple[Array, Array]:
        """The state after a time in which u is held."""
        steps = int(np.ceil(duration / self._step - 1e-9))
        h = duration / steps
        for _ in range(steps):
            middle = v + h / 2 * self._rate(q, v, u)
            a = self._rate(self._integrate(q, h / 2 * v), middle, u)
            q, v = self._integrate(q, h * middle), v + h * a
        return q, v


class Task(ABC):
    """A robot with a reference: the base of the tasks, with INTERVALS intervals of ``interval`` seconds.

    Attributes:
        title, robot: the row of the tables, and the name of the URDF. ``model``: of that.
        interval, tick: the lengths of intervals and ticks [s].
        longer: than others its loop is, in ticks; ``skipped``: ticks at first that the tracking error does not count.
        degree: of the collocation of IPOPT.
        cases: the largest speed and size of the reference, and the standard deviation of kicks, by name.
        start: q where the loop begins, at rest.
    """

    title: str
    robot: str
    model: pin.Model
    interval = tick = 0.05
    longer = 1.0
    skipped = 10
    degree = 1
    cases: ClassVar[Mapping[str, Motion]]
    start: Array
    dyn: gd.Dynamics
    bounds: ocp.Bounds
    plant: Plant

    @abstractmethod
    def problem(self, **options: Any) -> ocp.Problem:
        """By ``gd.ocp``, with parameters q0, v0 and those of :meth:`given`."""

    def solver(self, kind: str) -> Any:
        """``"rti"``, or ``"ipopt"`` with compiled stages."""
        if kind == "rti":
            return self.problem().solver("rti", {"iterations": 3})
        options = {"ipopt.tol": 1e-6, "ipopt.max_iter": 60}
        return self.problem(degree=self.degree, compiled=True).solver("ipopt", options)

    @abstractmethod
    def given(self, t: float, motion: Motion) -> Given:
        """The parameters at a tick."""

    @abstractmethod
    def error(self, t: float, motion: Motion, q: Array) -> float:
        """The tracking error [m]."""

    def moved(self, t: float, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        """The state after a tick."""
        return self.plant(q, v, u, self.tick)

    def kicked(self, q: Array, v: Array, kick: Array) -> Array:
        """v after a kick."""
        return v + kick

    @property
    def grid(self) -> Array:
        return self.interval * np.arange(INTERVALS + 1)

    def _plant(self, robot: Any, step: float) -> Plant:
        return Plant(gd.ConstrainedDynamics(robot, []), step)


class Motion(NamedTuple):
    """Of a reference: factors of its size and its speed; of kicks: their standard deviations, of each entry of v."""

    size: float = 1.0
    speed: float = 1.0
    kick: Array | float = 0.0


class PandaArm(Task):
    """A 7-dof arm that carries its flange along a curve, with all limits of the URDF."""

    title, robot = "Panda, all limits", "panda7"
    frame = "flange"
    of_target, of_v, of_u = 100.0, 1e-2, 1e-6
    cases: ClassVar[Mapping[str, Motion]] = {EASY: Motion(), SATURATED: Motion(1.5, 2.5), KICKED: Motion(kick=0.3)}
    start = np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.785])

    def __init__(self) -> None:
        self.model = load(self.robot)
        self.dyn = gd.NewtonEuler(self.model)
        self.bounds = ocp.Bounds.of(self.dyn, self.model)
        self.place = gd.Kinematics(self.model).frame_placement(self.frame)
        self._begin = self.place(self.start).full()[:3, 3]
        self.plant = self._plant(self.dyn, 1e-3)

    def target(self, t: Array, motion: Motion) -> Array:
        """Where the flange should be (3 × len(t))."""
        angle = 2 * motion.speed * t
        curve = np.array([0 * t, 0.2 * np.sin(angle), 0.1 * (1 - np.cos(angle))])
        return self._begin[:, None] + motion.size * curve

    def problem(self, **options: Any) -> ocp.Problem:
        made = ocp.Problem(self.dyn, self.interval * INTERVALS, INTERVALS, bounds=self.bounds, **options)
        made.start(made.parameter("q0", 7), made.parameter("v0", 7))
        made.parameter("target", 3, at="grid")
        away = made.integral(lambda q, target: self.of_target * ca.sumsqr(self.place(q)[:3, 3] - target))
        calm = made.integral(lambda v: self.of_v * ca.sumsqr(v))
        rest = calm + made.integral(lambda u: self.of_u * ca.sumsqr(u))
        made.minimize(away + rest)
        made.guess(ocp.rest_to_rest(self.dyn, self.start, self.start, self.interval * INTERVALS))
        return made

    def given(self, t: float, motion: Motion) -> Given:
        return Given({"target": self.target(t + self.grid, motion)})

    def error(self, t: float, motion: Motion, q: Array) -> float:
        return float(np.linalg.norm(self.place(q).full()[:3, 3] - self.target(np.array([t]), motion)[:, 0]))


class PastSphere(PandaArm):
    """The same, past a sphere through which the reference leads."""

    title = "Panda past a sphere"
    radius = 0.1

    def __init__(self) -> None:
        super().__init__()
        self.centre = self._begin + np.array([0.02, 0.22, 0.1])

    def problem(self, **options: Any) -> ocp.Problem:
        made = super().problem(**options)
        centre = made.parameter("centre", 3)
        where = {"at": "grid"}
        made.path(lambda q: ca.sumsqr(self.place(q)[:3, 3] - centre), lower=self.radius**2, **where)
        return made

    def given(self, t: float, motion: Motion) -> Given:
        return Given({**super().given(t, motion).values, "centre": self.centre})

    def distance(self, q: Array) -> float:
        """Of the flange from the sphere [m]."""
        return float(np.linalg.norm(self.place(q).full()[:3, 3] - self.centre)) - self.radius


class PastSphereFast(PastSphere):
    """The same at 500 Hz, 25 ticks an interval: the plan stays where it is, and the reference moves."""

    title = "Panda past a sphere, 500 Hz"
    tick = 0.002
    longer, skipped = 2.5, 50


class FlexibleArm(Task):
    """Two flexible links with two modes each: the tip follows a line, with bounds of torques and joint speeds."""

    title, robot = "two flexible links, 4 modes", "two_link_flexible"
    degree = 2
    skipped = 20
    cases: ClassVar[Mapping[str, Motion]] = {
        EASY: Motion(),
        SATURATED: Motion(0.5, 3.0),
        KICKED: Motion(kick=np.r_[0.2, 0.2, 0, 0, 0, 0]),
    }
    most_torque, most_speed = 3.0, 2.0

    def __init__(self) -> None:
        self.model = model = load(self.robot)
        beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
        shapes = gd.modes.hermite()
        links = {name: gd.FlexibleLink(beam, bending_y=shapes, modal_damping=0.01) for name, beam in beams.items()}
        self.dyn = gd.FlexibleArm(model, links)
        torques = dict.fromkeys(self.dyn.actuator_names, self.most_torque)
        speeds = dict.fromkeys(ocp.Bounds.of(self.dyn, model).v_names[:2], self.most_speed)
        self.bounds = ocp.Bounds.of(self.dyn, model, u=torques, v=speeds)
        self.start = np.r_[0.6625, -1.5395, 0, 0, 0, 0]  # at the reference
        self.tip = gd.Kinematics(self.dyn.tree).frame_placement("tip")
        self.plant = self._plant(self.dyn, 2e-4)

    def target(self, t: Array, motion: Motion) -> Array:
        return np.array([1.3 + 0 * t, 0.6 * motion.size * np.sin(1.5 * motion.speed * t)])

    def problem(self, **options: Any) -> ocp.Problem:
        duration = self.interval * INTERVALS
        made = ocp.Problem(self.dyn, duration, INTERVALS, bounds=self.bounds, quasi_static=None, **options)
        made.start(made.parameter("q0", 6), made.parameter("v0", 6))
        made.parameter("target", 2, at="grid")
        away = made.integral(lambda q, target: 1000 * ca.sumsqr(self.tip(q)[:2, 3] - target))
        calm = made.integral(lambda v: 1e-1 * ca.sumsqr(v[:2]) + 1e-2 * ca.sumsqr(v[2:]))
        made.minimize(away + calm + made.integral(lambda u: 1e-2 * ca.sumsqr(u)))
        made.guess(ocp.rest_to_rest(self.dyn, self.start, self.start, duration))
        return made

    def given(self, t: float, motion: Motion) -> Given:
        return Given({"target": self.target(t + self.grid, motion)})

    def error(self, t: float, motion: Motion, q: Array) -> float:
        return float(np.linalg.norm(self.tip(q).full()[:2, 3] - self.target(np.array([t]), motion)[:, 0]))


FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
OF_Q = np.r_[300, 300, 1000, 50, 50, 50, np.tile([2.0, 1, 1], 4)]
OF_V = np.r_[5, 5, 5, 1, 1, 1, np.full(12, 0.02)]
OF_U = 0.05


class Standing(Task):
    """A quadruped on four feet, whose base moves and turns."""

    title, robot = "Solo 12 on four feet", "solo12"
    interval = tick = 0.02
    cases: ClassVar[Mapping[str, Motion]] = {
        EASY: Motion(),
        SATURATED: Motion(1.8, 2.0),
        KICKED: Motion(kick=np.r_[0.2 * np.ones(3), 0.4 * np.ones(3), np.zeros(12)]),
    }
    sets: ClassVar[Mapping[str, Sequence[str]]] = {"stand": FEET}
    friction, most_torque = 0.5, 1.2

    def __init__(self) -> None:
        self.model = model = load(self.robot)
        self.dyn, kin = gd.NewtonEuler(model), gd.Kinematics(model)
        self.difference, self.places = kin.difference, kin.frame_placements(FEET)
        self.start = pin.neutral(model)
        for leg, forward in (("FL", 1), ("FR", 1), ("HL", -1), ("HR", -1)):
            for joint, angle in (("HFE", 0.9 * forward), ("KFE", -1.8 * forward)):
                self.start[model.joints[model.getJointId(f"{leg}_{joint}")].idx_q] = angle
        self.start[2] -= float(kin.frame_placement(FEET[0])(self.start)[2, 3])
        torques = dict.fromkeys(self.dyn.actuator_names[6:], self.most_torque)
        self.bounds = ocp.Bounds.of(self.dyn, model, u=torques)
        self.robots = {name: self._held(feet) for name, feet in self.sets.items()}
        self.impacts = {name: con.impact for name, con in self.robots.items()}
        self.plants = {name: Plant(self._held(feet, damping=40.0), 1e-3) for name, feet in self.sets.items()}

    def _held(self, feet: Sequence[str], **options: float) -> gd.ConstrainedDynamics:
        return gd.ConstrainedDynamics(self.dyn, [gd.Contact(foot, "3D") for foot in feet], **options)

    def base(self, t: float, motion: Motion) -> tuple[Array, Array]:
        """q and v of the reference."""
        q, height = self.start.copy(), motion.size * self.start[2]
        angle = 2 * np.pi * motion.speed * t
        q[:3] += height * np.array([0.1 * np.sin(angle), 0.1 * np.sin(0.7 * angle), -0.06 * (1 - np.cos(angle))])
        turned = motion.size * np.array([0.1 * np.sin(angle / 2), 0.1 * np.sin(angle), 0.15 * np.sin(angle / 2)])
        q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(*turned)).coeffs()
        return q, np.zeros(18)

    def problem(self, **options: Any) -> ocp.Problem:
        return self._problem("stand", **options)

    def _problem(self, name: str, **options: Any) -> ocp.Problem:
        con, duration = self.robots[name], self.interval * INTERVALS
        made = ocp.Problem(con, duration, INTERVALS, bounds=self.bounds, **options)
        made.start(made.parameter("q0", 19), made.parameter("v0", 18))
        made.parameter("q_ref", 19, at="grid")
        made.parameter("v_ref", 18, at="grid")
        of_q, of_v = ca.DM(OF_Q), ca.DM(OF_V)
        there = made.integral(lambda q, q_ref: 50 * ca.dot(of_q, self.difference(q_ref, q) ** 2))
        calm = made.integral(lambda v, v_ref: 50 * ca.dot(of_v, (v - v_ref) ** 2))
        made.minimize(there + calm + made.integral(lambda u: 50 * OF_U * ca.sumsqr(u)) + self._swing(name, made))
        made.friction(self.friction)
        made.guess(ocp.rest_to_rest(con.anchored(self.start), self.start, self.start, duration))
        return made

    def _swing(self, name: str, made: ocp.Problem) -> Any:
        """The cost of the heights of feet that are not held."""
        return 0

    def given(self, t: float, motion: Motion) -> Given:
        q, v = (
            np.array(rows).T.copy() for rows in zip(*(self.base(each, motion) for each in t + self.grid), strict=True)
        )
        return Given({"q_ref": q, "v_ref": v})

    def error(self, t: float, motion: Motion, q: Array) -> float:
        return float(np.linalg.norm(q[:3] - self.base(t, motion)[0][:3]))

    def moved(self, t: float, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        return self.plants[self.stance(t)](q, v, u, self.tick)

    def stance(self, t: float) -> str:
        """The contacts that hold at a time."""
        return "stand"

    def kicked(self, q: Array, v: Array, kick: Array) -> Array:
        """The feet stay where they are."""
        return self.impacts["stand"](q, v + kick)[0].full().ravel()


class Trot(Standing):
    """The quadruped trots with 0.3 m/s: pairs of feet, whose contacts move with the horizon, and impacts."""

    title = "Solo 12 trots"
    cases: ClassVar[Mapping[str, Motion]] = {EASY: Motion()}
    sets: ClassVar[Mapping[str, Sequence[str]]] = {
        "stand": FEET,
        "left": (FEET[0], FEET[3]),
        "right": (FEET[1], FEET[2]),
    }
    speed, height, first, swing, stand = 0.3, 0.05, 0.2, 0.2, 0.04

    def solver(self, kind: str) -> Any:
        return ocp.ContactSchedule({name: self._problem(name) for name in self.sets}).solver(kind)

    def base(self, t: float, motion: Motion) -> tuple[Array, Array]:
        q, v = self.start.copy(), np.zeros(18)
        q[0] += self.speed * max(0.0, t - 0.3)
        v[0] = self.speed * (t > 0.3)
        return q, v

    def _phase(self, t: float) -> float:
        return (t - self.first + 1e-9) % (2 * (self.swing + self.stand))

    def stance(self, t: float) -> str:
        if t < self.first - 1e-9:
            return "stand"
        phase, half = self._phase(t), self.swing + self.stand
        return ("left" if phase < half else "right") if phase % half < self.swing else "stand"

    def heights(self, t: float) -> Array:
        """Of the feet above the ground."""
        z, stance = np.zeros(4), self.stance(t)
        if stance != "stand":
            phase = self._phase(t) % (self.swing + self.stand)
            lifted = [k for k, foot in enumerate(FEET) if foot not in self.sets[stance]]
            z[lifted] = self.height * np.sin(np.pi * phase / self.swing) ** 2
        return z

    def _swing(self, name: str, made: ocp.Problem) -> Any:
        made.parameter("z_ref", 4, at="grid")
        lifted = [k for k, foot in enumerate(FEET) if foot not in self.sets[name]]
        if not lifted:
            return 0

        def high(q: ca.MX, z_ref: ca.MX) -> ca.MX:
            places = self.places(q)
            return sum((1e5 * (places[k][2, 3] - z_ref[k]) ** 2 for k in lifted), ca.MX(0))

        return made.integral(high)

    def given(self, t: float, motion: Motion) -> Given:
        grid = t + self.grid
        values = {**super().given(t, motion).values, "z_ref": np.array([self.heights(each) for each in grid]).T.copy()}
        return Given(values, [self.stance(each) for each in grid[:-1]])

    def moved(self, t: float, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        q, v = super().moved(t, q, v, u)
        after, before = self.stance(t + self.tick), self.stance(t)
        if set(self.sets[after]) - set(self.sets[before]):
            v = self.impacts[after](q, v)[0].full().ravel()
        return q, v


TASKS = (PandaArm, PastSphere, PastSphereFast, FlexibleArm, Standing, Trot)
