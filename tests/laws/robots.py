"""Robots of the law machine: a case as a ``pin.Model`` and a ``Dynamics``, and its torques by Pinocchio's rnea."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import modes
from gdalembert.errors import ArgumentError, UnsupportedError
from tests.helpers.models import CONSTANT_SUBSPACE, JOINTS, inertia, is_depth_first, placement
from tests.laws.cases import Case, Joint

Vector = np.ndarray
SMOOTHING = 0.2
"""Of friction by joint [rad/s, m/s]."""
STIFFNESS, DAMPING = 4.0, 3.0
"""Of the stabilisation of constraints [1/s², 1/s]."""


@dataclass(frozen=True)
class State:
    """q, v, a, wrenches (6 × n) and multipliers lam."""

    q: Vector
    v: Vector
    a: Vector
    wrenches: Vector
    lam: Vector


class Robot:
    """A case that is built.

    Attributes:
        case: the case. ``model``: the ``pin.Model`` that the robot is made of. ``dyn``: the robot.
        p: its parameters; ``truth``: the model that has them.
        springs: (stiffness, rest) of each velocity. ``friction``: (viscous, coulomb, smoothing) of each.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.model = model_of(case)
        options = self._options()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "link .* its body of")  # the beams are not as heavy
            self.dyn = self._dynamics(self.model, options)
        self.p, self.truth = self._parameters()

    def _options(self) -> dict[str, Any]:
        case, springs, friction, wrenches = self.case, {}, {}, {}
        for joint in case.joints:
            rng = np.random.default_rng([joint.number, 1])
            k, rest, viscous, coulomb = rng.uniform(0.1, 2, size=4)
            if joint.spring:
                springs[name_of(joint)] = (5 * k, rest)
            if joint.friction and joint.kind != "Mimic":
                friction[name_of(joint)] = gd.Friction(viscous, coulomb, smoothing=SMOOTHING)
            if joint.wrench:
                wrenches[frame_of(joint)] = getattr(pin, joint.wrench)
        kinds: dict[str, Any] = dict.fromkeys(case.parameters, True)
        if "payload" in kinds:
            kinds["payload"] = [frame_of(joint) for joint in case.joints][-2:]
        if "placement" in kinds and not case.is_flexible:
            kinds["placement"] = [*map(name_of, case.joints), frame_of(case.joints[-1])]
        if not springs:
            kinds.pop("springs", None)
        if not (friction or case.friction):
            kinds.pop("friction", None)
        if not any(joint.modes or joint.elastic for joint in case.joints):
            kinds = {kind: names for kind, names in kinds.items() if kind not in ("stiffness", "damping")}
        return {
            "clean": 0,
            "springs": springs,
            "friction": "model" if case.friction else friction,
            "parameters": kinds,
            "wrenches": wrenches,
        }

    def _dynamics(self, model: pin.Model, options: dict[str, Any]) -> gd.Dynamics:
        case = self.case
        if not case.is_flexible:
            return gd.formulations()[case.formulation](model, actuation=self._actuation(model.nq, model.nv), **options)
        links = {f"body_{joint.number}": link_of(case, joint) for joint in case.joints if joint.modes}
        joints = {name_of(joint): springs_of(joint) for joint in case.joints if joint.elastic}
        kind = gd.FlexibleArm if case.has_rotations else gd.FirstOrderArm
        arm = kind(model, links, joints, **options)
        if not case.actuation:
            return arm
        return kind(model, links, joints, actuation=self._actuation(arm.nq, arm.nv), **options)

    def _actuation(self, nq: int, nv: int) -> Any:
        rng = np.random.default_rng([self.case.state, 2])
        b = rng.normal(size=(nv, max(1, nv - 1)))
        if self.case.actuation == "function":
            q, u = ca.SX.sym("q", nq), ca.SX.sym("u", b.shape[1])
            return ca.Function("actuation", [q, u], [ca.DM(b) @ (u + 0.1 * u**2) + ca.sin(q[0]) * u[0]])
        return b if self.case.actuation else None

    def _parameters(self) -> tuple[Vector | None, pin.Model]:
        parameters, rng = self.dyn.parameters, np.random.default_rng([self.case.state, 3])
        if not parameters:
            return None, self.model
        if "base" not in self.case.parameters:
            p = np.array(parameters.random(rng))
            return p, self.model if self.case.is_flexible else parameters.write(self.model, p)
        other = self.model.copy()  # no way back from base parameters to bodies is needed
        for k in range(1, other.njoints):
            other.inertias[k] = inertia(rng)
        if "gravity" in self.case.parameters:
            other.gravity = pin.Motion(rng.normal(size=3), np.zeros(3))
        if "armature" in self.case.parameters:
            other.armature = rng.uniform(0, 1, size=other.nv)
        return np.array(parameters.of(other)), other

    # What acts beside the links.

    def _value(self, name: str, nominal: float) -> float:
        """A parameter by name, or the number where it is none."""
        known = self.dyn.parameters
        return float(self.p[known.index(name)]) if self.p is not None and name in known else nominal

    @cached_property
    def springs(self) -> tuple[Vector, Vector]:
        stiffness, rest = np.zeros((2, self.model.nv))
        for joint, names, columns in self._velocities():
            if joint.spring:
                k, x = self.dyn.springs[name_of(joint)]
                for name, column in zip(names, columns, strict=True):
                    stiffness[column] = self._value(f"{name}.stiffness", k)
                    rest[column] = self._value(f"{name}.rest", x)
        return stiffness, rest

    @cached_property
    def friction(self) -> tuple[Vector, Vector, Vector]:
        viscous, coulomb = np.zeros((2, self.model.nv))
        if self.case.friction:
            return self.truth.damping, self.truth.friction, np.full(self.model.nv, 0.01)
        for joint, names, columns in self._velocities():
            if joint.friction:
                own = self.dyn.friction[name_of(joint)]
                for name, column in zip(names, columns, strict=True):
                    viscous[column] = self._value(f"{name}.viscous", own.viscous)
                    coulomb[column] = self._value(f"{name}.coulomb", own.coulomb)
        return viscous, coulomb, np.full(self.model.nv, SMOOTHING)

    def _velocities(self) -> list[tuple[Joint, Sequence[str], range]]:
        """The joints that have velocities of their own, with the names and the columns of these."""
        found = []
        for joint in self.case.joints:
            if joint.kind != "Mimic":
                own = self.model.joints[self.model.getJointId(name_of(joint))]
                columns = range(own.idx_v, own.idx_v + own.nv)
                found.append((joint, [self.dyn.coordinate_names[k] for k in columns], columns))
        return found

    def force_torque(self, q: Vector, v: Vector) -> Vector:
        """Of springs and friction (nv), those of the joints in an arm."""
        stiffness, rest = self.springs
        viscous, coulomb, smoothing = self.friction
        x = np.zeros(self.model.nv)
        for joint, _, columns in self._velocities():
            if joint.spring:
                first = self.model.joints[self.model.getJointId(name_of(joint))].idx_q
                x[columns] = q[first : first + len(columns)]
        return stiffness * (x - rest) + viscous * v + coulomb * np.tanh(v / smoothing)

    # What Pinocchio knows.

    @property
    def has_mimic(self) -> bool:
        return bool(self.model.nvExtended != self.model.nv)

    @property
    def is_depth_first(self) -> bool:
        return is_depth_first(self.model)

    @property
    def has_constant_subspaces(self) -> bool:
        """Whether Pinocchio's Coriolis matrix and derivatives are right."""
        return not self.has_mimic and all(joint.kind in CONSTANT_SUBSPACE for joint in self.case.joints)

    def wrenches_on_joints(self, q: Vector, wrenches: Vector) -> pin.StdVec_Force:
        """As Pinocchio takes them: on each joint, in the axes and about the origin of its frame."""
        model, forces = self.truth, [pin.Force.Zero() for _ in range(self.truth.njoints)]
        data = model.createData()
        pin.framesForwardKinematics(model, data, q)
        for (name, reference), wrench in zip(self.dyn.wrenches.items(), wrenches.T, strict=True):
            index = model.getFrameId(name)
            frame, at, force = model.frames[index], data.oMf[index], pin.Force(wrench)
            if reference == pin.LOCAL_WORLD_ALIGNED:
                force = pin.SE3(at.rotation, np.zeros(3)).actInv(force)
            elif reference == pin.WORLD:
                force = at.actInv(force)
            forces[frame.parentJoint] += frame.placement.act(force)
        return pin.StdVec_Force(forces)

    def rnea(self, q: Vector, v: Vector, a: Vector, wrenches: Vector | None = None) -> Vector:
        """tau of links, weight, armature and wrenches."""
        acting = [] if wrenches is None else [self.wrenches_on_joints(q, wrenches)]
        return np.array(pin.rnea(self.truth, self.truth.createData(), q, v, a, *acting))

    def torque(self, s: State) -> Vector:
        """tau of all that acts: by Pinocchio, of an arm its own, which ``validated`` compares."""
        if self.case.is_flexible:
            return self.call("inverse_dynamics", s)[0].ravel()
        return self.rnea(s.q, s.v, s.a, s.wrenches) + self.force_torque(s.q, s.v)

    # What the machine asks.

    @cached_property
    def states(self) -> list[State]:
        """Two random states; modal coordinates and their rates are small, strains are not."""
        rng, dyn = np.random.default_rng([self.case.state, 4]), self.dyn
        small = 0.5 if any(joint.rod for joint in self.case.joints) else 0.02
        size = np.where(np.isin(np.arange(dyn.nv), list(dyn.modes)), small, 1.0)
        found = []
        for _ in range(2):
            x, v, a, lam = rng.normal(size=(4, dyn.nv)) * size
            wrenches = 5 * rng.normal(size=(6, len(dyn.wrenches)))
            found.append(State(self.moved(self.neutral, x), v, a, wrenches, lam))
        return found

    @cached_property
    def at_p(self) -> gd.Dynamics:
        """The robot with numbers in the place of p."""
        return self.dyn if self.p is None else self.dyn.at(self.p)

    @cached_property
    def kinematics(self) -> gd.Kinematics:
        return gd.Kinematics(self.at_p.tree if self.case.is_flexible else self.truth, clean=0)

    @cached_property
    def neutral(self) -> Vector:
        return np.append(pin.neutral(self.model), np.zeros(self.dyn.nv - self.model.nv))

    def moved(self, q: Vector, velocity: Vector) -> Vector:
        """Where a constant velocity leads in unit time."""
        nq, nv = self.model.nq, self.model.nv
        return np.append(pin.integrate(self.model, q[:nq], velocity[:nv]), q[nq:] + velocity[nv:])

    def given(self, s: State, names: Sequence[str], **others: Vector) -> list[Vector]:
        """The inputs of a Function at a state."""
        known: dict[str, Any] = {"q": s.q, "v": s.v, "a": s.a, "lam": s.lam, "wrenches": s.wrenches, "p": self.p}
        known |= {"x": np.append(s.q, s.v), "u": s.lam[: self.dyn.nu]} | others
        return [known[name] for name in names]

    def call(self, name: str, s: State, **others: Vector) -> list[Vector]:
        """The outputs of one of the Functions at a state."""
        graph = getattr(self.dyn, name)
        return [x.full() for x in graph.call(self.given(s, graph.name_in(), **others))]

    @cached_property
    def is_regular(self) -> bool:
        """Whether tau determines a; a robot whose M is always singular is refused, and must be one."""
        try:
            _ = self.dyn.forward_dynamics
        except UnsupportedError:
            m = self.call("mass_matrix", self.states[0])[0]
            assert np.linalg.cond(m) > 1e12, "a regular mass matrix is taken for singular"
            return False
        return bool(np.linalg.cond(self.call("mass_matrix", self.states[0])[0]) < 1e10)

    @cached_property
    def constrained(self) -> gd.ConstrainedDynamics | None:
        """With those of the constraints that are independent; contacts are held where the other state has them."""
        kept: list[Any] = []
        con = None
        for given in self.case.constraints:
            each = constraint_of(self.case, given)
            try:
                con = gd.ConstrainedDynamics(self.dyn, [*kept, each], stiffness=STIFFNESS, damping=DAMPING)
            except ArgumentError:
                continue
            kept.append(each)
        return None if con is None else con.anchored(self.states[1].q, self.p)


def name_of(joint: Joint) -> str:
    return f"{joint.kind}_{joint.number}"


def frame_of(joint: Joint) -> str:
    """Where a wrench, a payload or a constraint acts: the body, or the tip of a flexible link."""
    return f"body_{joint.number} tip" if joint.modes else f"body_{joint.number}"


def constraint_of(case: Case, given: tuple[str, int] | tuple[str, int, int]) -> gd.Contact | gd.Loop:
    kind, *numbers = given
    frames = [frame_of(case.numbers[number]) for number in numbers]
    return gd.Contact(*frames, kind) if len(frames) == 1 else gd.Loop(*frames, kind)


def model_of(case: Case) -> pin.Model:
    """The rigid robot; each joint has numbers of its own, whatever other joints there are."""
    model = pin.Model()
    model.name = "case"
    ids = {-1: 0}
    rotors = {}
    armature, damping, friction = [], [], []
    for joint in case.joints:
        rng = np.random.default_rng(joint.number)
        at, body, frame = placed(joint, rng), body_of(joint, rng), placement(rng)
        scaling, offset = rng.uniform(-2, -0.5), rng.normal()
        if joint.kind == "Mimic":
            of_kind: Any = pin.JointModelMimic(model.joints[ids[joint.mimics]], scaling, offset)
        else:
            of_kind = JOINTS[joint.kind](rng)
        ids[joint.number] = added = model.addJoint(ids[joint.parent], of_kind, at, name_of(joint))
        model.appendBodyToJoint(added, body, pin.SE3.Identity())
        model.addBodyFrame(f"body_{joint.number}", added, pin.SE3.Identity() if joint.modes else frame, 0)
        nv = 0 if joint.kind == "Mimic" else model.joints[added].nv
        has_armature = case.armature == "all" or (case.armature == "joints" and joint.kind != "FreeFlyer")
        armature += list(has_armature * rng.uniform(0, 1, size=nv))
        damping += list(case.friction * rng.uniform(0, 1, size=nv))
        friction += list(case.friction * rng.uniform(0, 1, size=nv))
        if joint.rotor:
            rotors[name_of(joint)] = gd.Rotor(rng.uniform(0.01, 0.1), 7.0)
    model.armature, model.damping, model.friction = map(np.array, (armature, damping, friction))
    gravity = 5 * np.random.default_rng([case.state, 5]).normal(size=3)
    model.gravity = pin.Motion(case.gravity * gravity, np.zeros(3))
    return gd.with_rotors(model, rotors) if rotors else model


def placed(joint: Joint, rng: np.random.Generator) -> pin.SE3:
    at = placement(rng)
    if not joint.aligned:
        return at
    turn = pin.rpy.rpyToMatrix(np.pi, 0.0, 0.0) if joint.aligned == "opposite" else np.eye(3)
    return pin.SE3(turn, 0.0 * at.translation if joint.aligned == "coaxial" else at.translation)


def body_of(joint: Joint, rng: np.random.Generator) -> pin.Inertia:
    body = inertia(rng)
    if joint.body == "massless":
        return pin.Inertia.Zero()
    if joint.body == "point":
        return pin.Inertia(body.mass, body.lever, np.zeros((3, 3)))
    scale = {"light": 1e-3, "heavy": 1e3}.get(joint.body, 1.0)
    return pin.Inertia.FromDynamicParameters(scale * body.toDynamicParameters())


def springs_of(joint: Joint) -> tuple[gd.FlexibleJoint, ...]:
    """Springs behind the rotor of a joint and, of every other one, across it."""
    across = ("z", "x") if joint.kind.startswith("R") else ("rx", "ry")
    bearing = gd.FlexibleJoint([[300.0, 50.0], [50.0, 200.0]], damping=[0.4, 0.6], directions=across)
    return gd.FlexibleJoint(80.0, 0.3, 0.5), *([bearing] if joint.number % 2 else [])


def link_of(case: Case, joint: Joint) -> gd.FlexibleLink | gd.CosseratRod:
    """A beam beside the body of the link; what the link carries stands on its tip and at a quarter of it."""
    rng = np.random.default_rng([joint.number, 6])
    beam = gd.Beam(0.8, 1.5, EI_y=300.0, EI_z=500.0, EA=1e5, GJ=200.0, section_inertia=(1e-3, 2e-3))
    carried = [name_of(each) for each in case.joints if each.parent == joint.number]
    places = {name: ("tip", 0.2)[k % 2] for k, name in enumerate(carried)}
    common: dict[str, Any] = {"root": placement(rng), "children": places, "keep_body": True, "rayleigh": (0.0, 1e-3)}
    if joint.rod:
        segments, degree = map(int, joint.rod.split("x"))
        names = {"y": "bending_y", "z": "bending_z", "x": "elongation", "t": "torsion"}
        return gd.CosseratRod(beam, segments, degree, tuple(names[mode] for mode in joint.modes), **common)
    sets: dict[str, Any] = {"bending_y": None, "bending_z": None}
    sets |= {"bending_y": modes.clamped_free(1)} if "y" in joint.modes else {}
    sets |= {"bending_z": modes.polynomial(1)} if "z" in joint.modes else {}
    sets |= {"extension": modes.sine(1)} if "x" in joint.modes else {}
    sets |= {"torsion": modes.sine(1)} if "t" in joint.modes else {}
    return gd.FlexibleLink(beam, **sets, **common)
