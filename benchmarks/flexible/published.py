"""Flexible arms beside what is published on large deflections and on spinning beams.

    python -m benchmarks.flexible.published                    all tables, into docs/published_results.md
    python -m benchmarks.flexible.published elastica roll_up   some, to standard output alone

Each benchmark is one rod or beam on a joint about z, along x. Beside what is printed stands a second computation that
shares no code with the package (``tests/helpers/rods_apart.py``, and for spin-up the chains of ``chain.py``): some
tables are typed from secondary sources, and some published figures are those of coarse elements.
"""

from __future__ import annotations

import argparse
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import gdalembert as gd
from benchmarks.common.tables import markdown
from gdalembert.errors import BeamWarning
from gdalembert.spatial.arrays import Array
from tests.helpers import chain, rods_apart

PAGE = Path(__file__).resolve().parents[2] / "docs" / "published_results.md"
REGION = re.compile(r"(<!-- published: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

SIX = ("torsion", "bending_y", "bending_z", "elongation", "shear_y", "shear_z")
THREE, PLANAR = SIX[:3], ("bending_y",)


def arm(link: gd.CosseratRod | gd.FlexibleLink) -> gd.FlexibleArm:
    """A link along x on a joint about z at its root, without gravity."""
    model, beam = pin.Model(), link.beam
    model.name = "cantilever"
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hub")
    model.appendBodyToJoint(
        joint, pin.Inertia(beam.mass, np.array([beam.length / 2, 0, 0]), np.eye(3)), pin.SE3.Identity()
    )
    model.addBodyFrame("rod", joint, pin.SE3.Identity(), 0)
    model.gravity.linear = np.zeros(3)
    return gd.FlexibleArm(model, {"rod": link})


@dataclass(frozen=True)
class Robot:
    """A model of the cantilever.

    Attributes:
        name: its kind; of a rod its segments × the degree of its strains.
        dyn: its equations.
        results: (cases × quantities), nan where it has none.
        unresolved: by how much its tip is off by :meth:`gdalembert.FlexibleArm.validity`, of the length.
    """

    name: str
    dyn: gd.FlexibleArm
    results: Array
    unresolved: float | None = None


@dataclass(frozen=True)
class Table:
    """A benchmark.

    Attributes:
        head: what distinguishes the cases.
        cases: their names.
        published: as printed, quantities with a space between; ``""`` where nothing is.
        second: how the second computation is made.
        truth: its results (cases × quantities).
        digits: of the results.
        unit: over what differences are given, in words.
        size: over which differences are given; an array has one for each entry of ``truth``.
        robots: models of the cantilever.
    """

    head: str
    cases: Sequence[str]
    published: Sequence[str]
    second: str
    truth: Array
    digits: int
    unit: str
    size: Any
    robots: Sequence[Robot]

    def off(self, results: Array) -> float:
        """The largest difference from the second computation, over the size."""
        return float(np.nanmax(np.abs(results - self.truth) / self.size))

    @property
    def printed(self) -> Array:
        """The published numbers (cases × quantities), nan where there are none."""
        return np.array([[*map(float, text.split())] or [np.nan] * self.truth.shape[1] for text in self.published])

    def rows(self) -> list[str]:
        """The Markdown."""
        head = [self.head, "published", self.second, *(robot.name for robot in self.robots)]

        def row(values: Array) -> str:
            rounded = np.round(values, self.digits) + 0.0  # no −0
            return " ".join("–" if np.isnan(x) else f"{x:.{self.digits}f}".replace("-", "−") for x in rounded)

        body: list[list[object]] = [
            [case, text.replace("-", "−") or None, row(true), *(row(robot.results[k]) for robot in self.robots)]
            for k, (case, text, true) in enumerate(zip(self.cases, self.published, self.truth, strict=True))
        ]
        known = not np.isnan(self.printed).all()
        errors = [f"{self.off(robot.results):.1e}" for robot in self.robots]
        body.append(
            [f"largest difference, {self.unit}", f"{self.off(self.printed):.1e}" if known else None, None, *errors]
        )
        if any(robot.unresolved is not None for robot in self.robots):
            errors = [f"{robot.unresolved:.1e}" for robot in self.robots]
            body.append(["of which `arm.validity` tells, of l", None, None, *errors])
        body += [
            ["coordinates", None, None, *(robot.dyn.tree.nv - 1 for robot in self.robots)],
            ["instructions of tau", None, None, *(instructions(robot.dyn) for robot in self.robots)],
        ]
        return markdown(head, body)


def instructions(dyn: gd.FlexibleArm) -> int:
    """Those of the inverse dynamics."""
    return int(dyn.inverse_dynamics.n_instructions())


def rods(beam: gd.Beam, shapes: Mapping[str, Mapping[str, Any]]) -> dict[str, gd.FlexibleArm]:
    """Rods by name: the options of :class:`gdalembert.CosseratRod` for each."""
    return {name: arm(gd.CosseratRod(beam, **options)) for name, options in shapes.items()}


def pushed(
    name: str,
    dyn: gd.FlexibleArm,
    wrenches: Sequence[Sequence[float]],
    reference: pin.ReferenceFrame,
    quantities: Callable[[Array], Array],
) -> Robot:
    """A rod under wrenches on its tip with the joint held, each from where the one before has left it.

    Args:
        name: of the rod.
        dyn: its equations.
        wrenches: in the frame of the tip, with the axes of ``reference``.
        reference: pin.LOCAL for wrenches that follow the tip, pin.LOCAL_WORLD_ALIGNED for dead ones.
        quantities: the results of the tips (cases × 3).
    """
    q, placement, configurations, tips = np.zeros(dyn.tree.nq), dyn.tip_placement("rod"), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeamWarning)  # of rods that bend further than their nodes: the table shows it
        for wrench in wrenches:
            q = dyn.static_deflection(q, "rod tip", wrench, reference=reference, hold="joints")
            configurations.append(q)
            tips.append(placement(q).full()[:3, 3])
    return Robot(name, dyn, quantities(np.array(tips)), dyn.validity(np.array(configurations))["rod"].error)


# Dead forces

DEAD = pin.LOCAL_WORLD_ALIGNED
ELASTICA = {1: "0.05643 0.30172", 2: "0.16064 0.49346", 5: "0.38763 0.71379", 10: "0.55500 0.81061"}
"""Mattiasson (1981): u/l and w/l."""


def elastica() -> Table:
    """A cantilever under a force across it, by F l²/EI."""
    shapes = {"rod, 1 × 3": {"strains": PLANAR}, "rod, 1 × 5": {"strains": PLANAR, "degree": 5}}
    forces = [[0, load, 0, 0, 0, 0] for load in ELASTICA]
    arms = rods(gd.Beam(1.0, 1.0, EI_z=1.0), shapes)
    robots = [pushed(name, dyn, forces, DEAD, lambda x: np.abs(x[:, :2] - [1, 0])) for name, dyn in arms.items()]
    truth = np.array([rods_apart.elastica(load)[:2] for load in ELASTICA])
    cases, printed = [str(load) for load in ELASTICA], [*ELASTICA.values()]
    return Table("F l²/EI: u/l, w/l", cases, printed, "elliptic integrals", truth, 5, "of l", 1.0, robots)


BEND_RADIUS, BEND_MODULUS = 100.0, 1e7
BEND_LENGTH = BEND_RADIUS * math.pi / 4
BEND = {300: "58.84 22.33 40.08", 450: "52.32 18.62 48.39", 600: "47.23 15.79 53.37"}
"""Simo and Vu-Quoc (1986), eight elements: the tip."""


def bend() -> Table:
    """An eighth of a circle with a square section of 1 × 1, under a force out of its plane."""
    e, loads = BEND_MODULUS, [*BEND]
    shear = {"GA_y": e / 2, "GA_z": e / 2, "section_inertia": (1 / 12, 1 / 12)}
    beam = gd.Beam(BEND_LENGTH, 1.0, EI_y=e / 12, EI_z=e / 12, EA=e, GJ=e / 12, **shear)
    curved = {"rest": {"bending_y": 1 / BEND_RADIUS}}
    shapes = {
        "rod, six strains, 1 × 4": {"strains": SIX, "degree": 4, **curved},
        "rod, three strains, 1 × 3": {"strains": THREE, **curved},
    }
    forces = [[0, 0, load, 0, 0, 0] for load in loads]
    robots = [pushed(name, dyn, forces, DEAD, lambda x: x) for name, dyn in rods(beam, shapes).items()]
    compliance = np.array([1, 2, 2, 12, 12, 12]) / e
    truth = np.array(
        [rods_apart.tip_under_force(BEND_LENGTH, compliance, [0, 0, load], 1 / BEND_RADIUS) for load in loads]
    )
    cases = [str(load) for load in loads]
    return Table("P: tip x, y, z", cases, [*BEND.values()], "shooting", truth, 4, "of l", BEND_LENGTH, robots)


PRINCETON = {
    8.896: (
        "10.71417630 0",
        "10.61328706 42.08232124",
        "10.11169630 79.39482948",
        "8.837226265 108.987937",
        "6.604665004 129.887616",
        "3.538889001 142.194370",
        "0 146.245978",
    ),
    13.345: (
        "16.06423724 0",
        "16.45825752 64.35812858",
        "16.65873206 117.735994",
        "15.18618440 156.467239",
        "11.57837500 181.861627",
        "6.248967384 196.097131",
        "0 200.677707",
    ),
}
"""ANSYS's beam, at 0°, 15° … 90° (Obrezkov and others 2022): the tip's deflection along and across the strip [mm]."""
PRINCETON_BEAM = gd.Beam.rectangle(
    0.508, width=12.3777e-3, height=3.2024e-3, density=2700.0, youngs_modulus=71.7e9, poisson_ratio=0.31
)


def princeton() -> Table:
    """An aluminium strip with a weight on its tip, turned about its axis."""
    beam, turns = PRINCETON_BEAM, np.radians(np.arange(0, 91, 15))
    forces = [[0, load * np.cos(x), load * np.sin(x)] for load in PRINCETON for x in turns]
    wrenches = [[*force, 0, 0, 0] for force in forces]
    dyn = arm(gd.CosseratRod(beam))
    robot = pushed("rod, three strains, 1 × 3", dyn, wrenches, DEAD, lambda x: 1e3 * x[:, 1:])
    stiffness = [beam.EA, beam.GA_y, beam.GA_z, beam.GJ, beam.EI_y, beam.EI_z]
    compliance = [1 / float(x) for x in stiffness]
    truth = [rods_apart.tip_under_force(beam.length, compliance, force, loads=2) for force in forces]
    cases = [f"{load} N, {15 * k}°" for load in PRINCETON for k in range(len(turns))]
    printed = [" ".join(f"{float(x):.2f}" for x in text.split()) for texts in PRINCETON.values() for text in texts]
    second = 1e3 * np.array(truth)[:, 1:]
    return Table("force, turn: y, z [mm]", cases, printed, "shooting", second, 2, "of 201 mm", 201.0, [robot])


def timoshenko() -> Table:
    """PyElastica's example: a thick cantilever with a small shear modulus, under a force across it."""
    length, radius, e, g, force = 3.0, 0.25, 1e6, 1e4, 15.0
    area, second = math.pi * radius**2, math.pi * radius**4 / 4
    shear = 27 / 28 * g * area
    beam = gd.Beam(
        length,
        5000 * area,
        EI_z=e * second,
        GA_y=shear,
        section_inertia=(5000 * second, 5000 * second),
    )
    shapes = {"rod, bending and shear, 1 × 3": {"strains": ("bending_y", "shear_y")}}
    parts = np.array([1.0, 0.01])
    forces = [[0, force * part, 0, 0, 0, 0] for part in parts]
    robots = [
        pushed(name, dyn, forces, DEAD, lambda x: x[:, 1:2] / parts[:, None])
        for name, dyn in rods(beam, shapes).items()
    ]
    linear = force * length**3 / (3 * e * second) + force * length / shear
    compliance = [0, 1 / shear, 0, 0, 0, 1 / (e * second)]
    truth = np.array(
        [[rods_apart.tip_under_force(length, compliance, [0, force * x, 0], loads=1)[1] / x] for x in parts]
    )
    cases, printed = ["15 N", "0.15 N, times 100"], ["", f"{linear:.7f}"]
    return Table("force: deflection [m]", cases, printed, "shooting", truth, 7, "of the deflection", truth, robots)


# Moments and forces that follow the tip


def roll_up() -> Table:
    """A cantilever under a moment 2π k EI/l on its tip: a circle of k turns."""
    turns = (0.5, 1.0, 2.0, 4.0)
    shapes = {"rod, 1 × 3": {"strains": PLANAR}, "rod, 4 × 3": {"strains": PLANAR, "segments": 4}}
    arms = rods(gd.Beam(1.0, 1.0, EI_z=1.0), shapes)
    truth = np.array([[np.sin(k) / k, (1 - np.cos(k)) / k] for k in 2 * np.pi * np.array(turns)])
    moments = [[0, 0, 0, 0, 0, 2 * np.pi * k] for k in turns]
    robots = [pushed(name, dyn, moments, pin.LOCAL, lambda x: x[:, :2]) for name, dyn in arms.items()]
    cases, none = [f"{k:g}" for k in turns], [""] * len(turns)
    return Table("turns: x/l, y/l", cases, none, "circle", truth, 5, "of l", 1.0, robots)


def follower() -> Table:
    """A cantilever whose force on the tip stays across it, by P l²/EI."""
    loads = (1, 5, 10, 20, 30)
    shapes = {f"rod, {n} × 3": {"strains": PLANAR, "segments": n} for n in (1, 2, 4)}
    arms = rods(gd.Beam(1.0, 1.0, EI_z=1.0), shapes)
    forces = [[0, load, 0, 0, 0, 0] for load in loads]
    robots = [pushed(name, dyn, forces, pin.LOCAL, lambda x: x[:, :2]) for name, dyn in arms.items()]
    truth = np.array([rods_apart.follower(load) for load in loads])
    cases, none = [str(load) for load in loads], [""] * len(loads)
    return Table("P l²/EI: x/l, y/l", cases, none, "from the tip", truth, 5, "of l", 1.0, robots)


# Spin

FLAPPING = (
    "3.5160 22.0345",
    "3.6816 22.1810",
    "4.1373 22.6149",
    "4.7973 23.3203",
    "5.5850 24.2734",
    "6.4495 25.4461",
    "7.3604 26.8091",
    "8.2996 28.3341",
    "9.2568 29.9954",
    "10.2257 31.7705",
    "11.2023 33.6404",
    "12.1843 35.5890",
    "13.1702 37.6031",
)
"""Wright, Smith, Thresher and Wang (1982) at γ = 0, 1 … 12: the two lowest frequencies out of the plane of spin."""


def spinning_frequencies(dyn: gd.FlexibleArm, spins: Array) -> Array:
    """The two lowest (spins × 2) of small vibrations about the undeformed arm, its hub held at a spin [rad/s]."""
    s = dyn.symbols("q", "v")
    stiffness = ca.Function("K", [s["q"], s["v"]], [ca.jacobian(dyn.nle(s["q"], s["v"]), s["q"])])
    q = np.zeros(dyn.tree.nq)
    mass = dyn.mass_matrix(q).full()[1:, 1:]
    frequencies = []
    for spin in spins:
        k = stiffness(q, [spin, *[0.0] * (dyn.tree.nv - 1)]).full()[1:, 1:]
        frequencies.append(np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(mass, k)).real)[:2]))
    return np.array(frequencies)


def flapping() -> Table:
    """A cantilever that spins about its root: frequencies in √(EI/μl⁴)."""
    unit, spins = 100.0, range(len(FLAPPING))
    beam = gd.Beam(1.0, 1.0, EI_y=unit**2)
    across = ("bending_z",)
    arms = rods(beam, {"rod, 1 × 5": {"strains": across, "degree": 5}, "rod, 1 × 3": {"strains": across}})
    arms["four modes"] = arm(gd.FlexibleLink(beam, bending_z=gd.modes.clamped_free(4)))
    robots = [Robot(name, dyn, spinning_frequencies(dyn, unit * np.array(spins)) / unit) for name, dyn in arms.items()]
    truth = np.array([[rods_apart.flapping(spin, float(near)) for near in FLAPPING[spin].split()] for spin in spins])
    cases = [str(spin) for spin in spins]
    return Table("γ: f1, f2", cases, FLAPPING, "shooting", truth, 4, "relative", truth, robots)


def lagging() -> Table:
    """The same in the plane of spin, where the hub is held at its speed: f² is less by γ²."""
    unit, spins = 100.0, (1, 2, 4, 8, 12)
    beam = gd.Beam(1.0, 1.0, EI_z=unit**2)
    arms = rods(beam, {"rod, 1 × 5": {"strains": PLANAR, "degree": 5}, "rod, 1 × 3": {"strains": PLANAR}})
    arms["four modes"] = arm(gd.FlexibleLink(beam, bending_y=gd.modes.clamped_free(4)))
    robots = [Robot(name, dyn, spinning_frequencies(dyn, unit * np.array(spins)) / unit) for name, dyn in arms.items()]
    across = np.array([[rods_apart.flapping(spin, float(x)) for x in FLAPPING[spin].split()] for spin in spins])
    truth = np.sqrt(across**2 - np.array(spins)[:, None] ** 2)
    cases, none = [str(spin) for spin in spins], [""] * len(spins)
    return Table("γ: f1, f2", cases, none, "shooting", truth, 4, "relative", truth, robots)


CHAIN = 10
"""Segments of the shorter chain; with 16 and 32 the lags are the same to 1e-4."""


@dataclass(frozen=True)
class SpinUp:
    """A beam whose hub turns at Ω (t/T − sin(2πt/T)/2π), from T on at Ω."""

    beam: gd.Beam
    spin: float = 6.0
    duration: float = 15.0

    def rates(self, t: float) -> tuple[float, float]:
        """The velocity and the acceleration of the hub."""
        part = min(t / self.duration, 1.0)
        turn = 2 * math.pi * part
        return self.spin * (part - math.sin(turn) / (2 * math.pi)), self.spin / self.duration * (1 - math.cos(turn))

    def angle(self, t: Any) -> Array:
        """The angle of the hub."""
        within = np.minimum(t, self.duration)
        wave = self.duration / (2 * math.pi) ** 2 * (np.cos(2 * math.pi * within / self.duration) - 1)
        return np.asarray(self.spin * (within**2 / (2 * self.duration) + wave + t - within))

    @property
    def times(self) -> Array:
        """Until a third of the duration after it."""
        return np.linspace(0, 4 / 3 * self.duration, 2001)

    def summary(self, lag: Array) -> list[float]:
        """The largest lag, and the largest one that is left after the duration."""
        return [float(lag.min()), float(np.abs(lag[self.times >= self.duration]).max())]

    def chain_lag(self, segments: int) -> Array:
        """The lag of a lumped chain, whose clamp turns with the hub: the spring there pulls its first segment along."""
        clamped = chain.chain([self.beam], segments, locked=True)
        driven, spring = replace(clamped, joints=(0,)), float(clamped.stiffness[0, 0])
        tip = chain.tip_path(driven, np.zeros(1), lambda t: [spring * float(self.angle(t))], np.zeros(3), self.times)
        angle = self.angle(self.times)
        return tip[:, 1] * np.cos(angle) - tip[:, 0] * np.sin(angle)

    def reference(self, coarse: int) -> list[float]:
        """The summary of lumped chains, extrapolated from two numbers of segments."""
        return [*chain.extrapolated(*(np.array(self.summary(self.chain_lag(n))) for n in (coarse, 2 * coarse)))]

    def lag(self, dyn: gd.FlexibleArm) -> Array:
        """The tip's distance from the axis of the hub at :attr:`times` [m]."""
        n = dyn.tree.nv - 1
        x, hub = ca.SX.sym("x", 2 * n), ca.SX.sym("hub", 2)
        q, v = ca.vertcat(0, x[:n]), ca.vertcat(hub[0], x[n:])
        force = dyn.inverse_dynamics(q, v, ca.vertcat(hub[1], ca.SX(n, 1)))[1:]
        rate = ca.vertcat(x[n:], -ca.solve(dyn.mass_matrix(q)[1:, 1:], force))
        function = ca.Function("rate", [x, hub], [rate, ca.jacobian(rate, x)])
        motion = solve_ivp(
            lambda t, y: function(y, self.rates(t))[0].full().ravel(),
            (0, self.times[-1]),
            np.zeros(2 * n),
            "Radau",
            self.times,
            jac=lambda t, y: function(y, self.rates(t))[1].full(),
            rtol=1e-7,
            atol=1e-9,
        )
        states = np.vstack([np.zeros(len(self.times)), motion.y[:n]])
        return dyn.tip_placement("rod").map(len(self.times))(states).full()[1, 3::4]

    def stretch(self, dyn: gd.FlexibleArm) -> float:
        """By how much the beam is longer at the final spin [m]."""
        n = dyn.tree.nv - 1
        v = [self.spin, *[0.0] * n]
        f = fsolve(lambda f: dyn.nle([0, *f], v).full().ravel()[1:], np.zeros(n), xtol=1e-13)
        return float(dyn.tip_placement("rod")([0, *f])[0, 3]) - self.beam.length


SIMO = SpinUp(gd.Beam(10.0, 1.2, EI_z=1.4e4, EA=2.8e7, section_inertia=(6e-4, 6e-4)))
KANE = SpinUp(gd.Beam(8.0, 2766.7 * 7.2968e-5, EI_z=6.8952e10 * 8.2189e-9))


def spin_up() -> Table:
    """Simo and Vu-Quoc's beam, which stretches."""
    arms = {
        "rod, bending and elongation, 1 × 3": arm(gd.CosseratRod(SIMO.beam, strains=("bending_y", "elongation"))),
        "rod, bending, 1 × 3": arm(gd.CosseratRod(SIMO.beam, strains=PLANAR)),
        "four modes": arm(gd.FlexibleLink(SIMO.beam, bending_y=gd.modes.clamped_free(4))),
    }
    robots = []
    for k, (name, dyn) in enumerate(arms.items()):
        results = [*SIMO.summary(SIMO.lag(dyn)), SIMO.stretch(dyn) if k == 0 else math.nan]
        robots.append(Robot(name, dyn, np.array(results)[:, None] * [[1], [1], [1e3]]))
    lag, ring = SIMO.reference(CHAIN)
    longer = 1e3 * rods_apart.stretch(SIMO.spin, 10.0, 1.2, 2.8e7)
    truth = np.array([[lag], [ring], [longer]])
    cases = ["largest lag of the tip [m]", "lag left after 15 s [m]", "stretch at 6 rad/s [mm]"]
    size = np.abs([[lag], [lag], [longer]])
    printed = ["", "", "0.514"]
    return Table("", cases, printed, "chains; closed form", truth, 4, "of the lag or stretch", size, robots)


def kane() -> Table:
    """Kane, Ryan and Banerjee's beam, which loses a tenth of its length in lag."""
    arms = {
        "rod, 1 × 3": arm(gd.CosseratRod(KANE.beam, strains=PLANAR)),
        "four modes": arm(gd.FlexibleLink(KANE.beam, bending_y=gd.modes.clamped_free(4))),
        "two modes": arm(gd.FlexibleLink(KANE.beam, bending_y=gd.modes.clamped_free(2))),
    }
    robots = [Robot(name, dyn, np.array(KANE.summary(KANE.lag(dyn)))[:, None]) for name, dyn in arms.items()]
    truth = np.array(KANE.reference(CHAIN))[:, None]
    cases, none = ["largest lag of the tip [m]", "lag left after 15 s [m]"], ["", ""]
    return Table("", cases, none, "chains", truth, 4, "of the lag", abs(truth[0, 0]), robots)


TABLES: dict[str, Callable[[], Table]] = {
    make.__name__: make
    for make in (elastica, bend, princeton, timoshenko, roll_up, follower, flapping, lagging, spin_up, kane)
}


def written(page: str, tables: Mapping[str, Table]) -> str:
    """A page with these tables in the places that have their names."""

    def place(match: re.Match[str]) -> str:
        table = tables.get(match[2])
        return match[0] if table is None else "\n".join([match[1].rstrip(), *table.rows(), match[3]])

    return REGION.sub(place, page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=f"benchmarks to print: {', '.join(TABLES)}")
    names = parser.parse_args().name
    if unknown := sorted({*names} - {*TABLES}):
        parser.error(f"no benchmark {unknown[0]}; there are {', '.join(TABLES)}")
    tables = {}
    for name in names or TABLES:
        tables[name] = TABLES[name]()
        print("\n".join([f"{name}: {TABLES[name].__doc__}", "", *tables[name].rows(), ""]), flush=True)
    if not names:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
