"""``load_mjcf`` beside MuJoCo itself: ``mj_inverse``, ``mj_fullM`` and places of bodies and sites at random states."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, MissingPackageError, MjcfError, MjcfWarning
from tests.helpers.models import relative_error

pytestmark = pytest.mark.extras

ROUNDING = 1e-12
DATA = Path(mujoco.__file__).parent / "testdata"
ROBOTS = Path(pin.__file__).parents[4] / "share/example-robot-data/robots"


def arm(upper: str = "", lower: str = "", a: str = "", b: str = "", inside: str = "", name: str = "") -> str:
    """A double pendulum of capsules: attributes of its joints and bodies, and what is in the second body."""
    return f"""
    <body name="a{name}" {a}><joint name="j1{name}" axis="0 1 0" {upper}/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03" mass="1"/>
      <body name="b{name}" pos="0 .1 -.5" {b}><joint name="j2{name}" axis="0 1 0" {lower}/>
        <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass=".5"/>{inside}
      </body>
    </body>"""


def mjcf(bodies: str, before: str = "", after: str = "", compiler: str = 'angle="radian"') -> str:
    return f"<mujoco><compiler {compiler}/>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


def body(joints: str, inside: str = "", attributes: str = 'pos=".1 .2 .3" quat=".5 .4 -.3 .2"') -> str:
    """A lopsided body with these joints."""
    return f"""<body {attributes}>{joints}<geom type="box" size=".1 .2 .3" pos=".1 -.05 .2" quat="1 .2 .3 .4" mass="2"/>
      {inside}</body>"""


FREE = body("<freejoint/>", body('<joint name="k" axis="1 2 3"/>'))
MOTOR = '<motor joint="j1" gear="3" armature=".2" damping=".3"/>'
MODELS = {
    "plain": mjcf(arm()),
    "gravity": mjcf(arm(), '<option gravity="1 2 -1.62"/>'),
    "gravity disabled": mjcf(arm(), '<option><flag gravity="disable"/></option>'),
    "mass in a class": mjcf(
        '<body><joint axis="0 1 0"/><geom class="k" size=".1" pos=".1 0 0"/></body>',
        '<default><default class="k"><geom mass="3"/></default></default>',
    ),
    "mass in the top default": mjcf(body("<joint/>").replace('mass="2"', ""), '<default><geom mass="1"/></default>'),
    "visuals without mass": mjcf(
        arm(inside='<geom class="visual" size="1"/>'),
        '<default><default class="visual"><geom mass="0" contype="0" conaffinity="0" group="2"/></default></default>',
    ),
    "poses in a class": mjcf(
        '<body><joint class="k"/><geom class="k" size=".1" mass="1"/></body>',
        '<default><default class="k"><joint pos="0 0 .1" axis="0 1 0"/><geom pos=".2 0 0" euler=".1 .2 .3"/></default>'
        "</default>",
    ),
    "childclass": mjcf(
        arm(a='childclass="k"'), '<default><default class="k"><joint armature=".3" damping="2"/></default></default>'
    ),
    "pose of a root body": mjcf(
        f'<body euler="0 .3 .1" pos="1 2 3"><geom size=".1"/>{arm()}</body>'.replace("euler", "euler")
    ),
    "several roots": mjcf(arm() + arm(name="x", a='pos="1 0 0"') + '<body name="rest" pos="3 0 0"/>'),
    "settotalmass": mjcf(arm(), compiler='settotalmass="14"'),
    "inertiagrouprange": mjcf(arm(inside='<geom size=".1" group="4"/>'), compiler='inertiagrouprange="0 3"'),
    "boundmass": mjcf(arm(), compiler='boundmass="0.8" boundinertia="0.01"'),
    "eulerseq": mjcf(arm(a='euler=".1 .2 .3"', b='euler="-.4 .5 .6"'), compiler='angle="radian" eulerseq="XYZ"'),
    "degrees": mjcf(arm(a='euler="10 20 30"', lower='ref="20"'), compiler='angle="degree"'),
    "springs": mjcf(arm('stiffness="2"', 'stiffness="5" springref=".2" ref="0.1"')),
    "springs disabled": mjcf(arm('stiffness="2" damping="1"'), '<option><flag spring="disable"/></option>'),
    "dampers disabled": mjcf(arm('stiffness="2" damping="1"'), '<option><flag damper="disable"/></option>'),
    "damping and friction": mjcf(arm('damping=".3" frictionloss=".1"', 'damping=".5"')),
    "damping of a free joint": mjcf(body('<joint type="free" damping=".7"/>', body('<joint axis="1 0 2"/>'))),
    "two worldbodies": mjcf(arm(), after='<worldbody><geom type="plane" size="1 1 1"/></worldbody>'),
    "two joints of a body": mjcf(body('<joint axis="1 2 3" pos=".1 .2 .3"/><joint axis="0 1 1" pos="0 0 .5"/>')),
    "slides and a ball": mjcf(
        body('<joint type="slide" axis="1 2 0" ref=".3"/><joint type="slide" axis="0 1 0"/><joint type="ball"/>')
    ),
    "offset ball": mjcf(body('<joint type="ball" pos=".1 .2 .3" damping=".2" armature=".1"/>', body("<joint/>"))),
    "free": mjcf(FREE),
    "two free bodies": mjcf(FREE + FREE.replace('name="k"', 'name="l"')),
    "aligned free joint": mjcf(body('<freejoint align="true"/>', body('<joint axis="1 2 3"/>'))),
    "ref": mjcf(arm('ref=".4"', 'ref="-1" type="slide"')),
    "offset joints": mjcf(arm('pos=".1 .2 .3"', 'pos="-.1 0 .2" ref=".7"')),
    "fixed bodies": mjcf(arm(inside=body("", body("")))),
    "frames": mjcf(f'<frame pos="1 0 0" euler="0 0 .4"><frame axisangle="1 2 3 .4">{arm()}</frame></frame>'),
    "sites": mjcf(arm(inside='<site name="tip" pos=".1 .2 .3" euler=".1 .2 .3"/>') + '<site name="home" pos="1 0 0"/>'),
    "fullinertia": mjcf(
        '<body><joint axis="1 1 0"/><inertial pos=".1 .2 .3" mass="2" fullinertia="1 2 2.5 .1 .2 .3"/></body>'
    ),
    "inertial beside geoms": mjcf(
        '<body><joint axis="1 1 0"/><inertial pos=".1 0 0" mass="2" diaginertia="1 1 1"/><geom size=".1"/></body>'
    ),
    "density": mjcf(
        '<body><joint axis="1 1 0"/><geom type="ellipsoid" size=".1 .2 .3" pos="1 0 0" density="500"/></body>'
    ),
    "armature": mjcf(arm('armature=".1"', 'armature=".2" type="slide"')),
    "armature of an actuator": mjcf(arm('damping=".1"'), after=f"<actuator>{MOTOR}</actuator>"),
    "mocap body": mjcf(arm() + '<body name="target" mocap="true" pos="1 0 0"><geom size=".1"/></body>'),
    "tendon without springs": mjcf(
        arm(), after='<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="2"/></fixed></tendon>'
    ),
    "replicate": mjcf(f'<replicate count="3" offset="0 1 0">{arm()}</replicate>'),
    "unnamed": mjcf(body("<joint/>", body("<joint/>", body("<joint/><joint axis='1 0 0'/>")))),
    "contacts": mjcf(arm(), after='<contact><exclude body1="a" body2="b"/></contact>'),
    "fused": mjcf(arm(inside=body("")) + body(""), compiler='angle="radian" fusestatic="true"'),
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """No file of what MuJoCo warns of when a test lets it compile the same model."""
    mujoco.set_mju_user_warning(lambda text: None)
    yield
    mujoco.set_mju_user_warning(None)


def loaded(source: Any, **options: Any) -> tuple[pin.Model, str]:
    """The model, and the one line that is to be written for it, beside what MuJoCo warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = gd.load_mjcf(source, **options)
    assert {w.category for w in caught} <= {MjcfWarning}
    lines = [text for w in caught if ": MuJoCo warns: " not in (text := str(w.message))]
    assert len(lines) <= 1
    return model, "".join(lines)


def run(message: str, model: pin.Model) -> dict[str, Any]:
    """What the line that a warning says makes of a model."""
    names: dict[str, Any] = {"gd": gd, "pin": pin, "model": model}
    exec(message.partition("to have them, write ")[2], names)
    return names


def joints(mj: mujoco.MjModel) -> Iterator[tuple[int, int, slice]]:
    """First entry of q, first entry of v, and the quaternion in q of free and ball joints; of a free joint v is ≥ 0."""
    for j in range(mj.njnt):
        at, free = int(mj.jnt_qposadr[j]), mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE
        if free or mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            first = at + 3 * free
            yield at, int(mj.jnt_dofadr[j]) if free else -1, slice(first, first + 4)


def states(mj: mujoco.MjModel) -> Iterator[tuple[Any, Any, Any]]:
    rng = np.random.default_rng(3)
    for _ in range(3):
        qpos, qvel, qacc = rng.normal(size=mj.nq), *rng.normal(size=(2, mj.nv))
        for *_, quaternion in joints(mj):
            qpos[quaternion] /= np.linalg.norm(qpos[quaternion])
        yield qpos, qvel, qacc


def pinocchios(mj: mujoco.MjModel, qpos: Any, qvel: Any, qacc: Any) -> tuple[Any, Any, Any, Any]:
    """q, v, a, and T with qvel = T v, by the docstring of ``load_mjcf``."""
    q, v, a, t = qpos.copy(), qvel.copy(), qacc.copy(), np.eye(mj.nv)
    for _, free, quaternion in joints(mj):
        q[quaternion] = qpos[quaternion][[1, 2, 3, 0]]
        if free >= 0:
            r, linear, angular = (
                pin.Quaternion(q[quaternion]).matrix(),
                slice(free, free + 3),
                slice(free + 3, free + 6),
            )
            v[linear] = r.T @ qvel[linear]
            a[linear] = r.T @ qacc[linear] - np.cross(v[angular], v[linear])
            t[linear, linear] = r
    return q, v, a, t


class Following:
    """Joints of a model that follow others, beside the model in which they are free."""

    def __init__(self, full: pin.Model, model: pin.Model) -> None:
        self.g = np.zeros((full.nv, model.nv))
        self.followers: list[tuple[pin.JointModel, pin.JointModel, float, float]] = []
        self.entries: list[int] = []
        self.rows: list[int] = []
        for j in range(1, full.njoints):
            free, joint = full.joints[j], model.joints[j]
            inner = joint.extract()
            if isinstance(inner, pin.JointModelMimic):
                leader = next(k for k in range(1, j) if model.joints[k].idx_v == joint.idx_v)
                self.followers.append((free, full.joints[leader], inner.scaling, inner.offset))
            else:
                self.entries += range(free.idx_q, free.idx_q + free.nq)
                self.rows += range(free.idx_v, free.idx_v + free.nv)
            scaling = inner.scaling if isinstance(inner, pin.JointModelMimic) else 1.0
            rows = slice(free.idx_v, free.idx_v + free.nv), slice(joint.idx_v, joint.idx_v + free.nv)
            self.g[rows] = scaling * np.eye(free.nv)

    def apply(self, qpos: Any, qvel: Any, qacc: Any) -> None:
        """Change a state into one in which they follow."""
        for joint, leader, scaling, offset in self.followers:
            qpos[joint.idx_q] = scaling * qpos[leader.idx_q] + offset
        for x in (qvel, qacc):
            x[:] = self.g @ x[self.rows]

    def state(self, q: Any, v: Any, a: Any) -> tuple[Any, Any, Any]:
        return q[self.entries], v[self.rows], a[self.rows]


def check(mj: mujoco.MjModel, model: pin.Model, message: str) -> None:
    """tau, M, and the places of bodies and sites are MuJoCo's."""
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # contacts, limits, dry friction
    model.upperDryFrictionLimit = model.lowerDryFrictionLimit = np.zeros(model.nv)
    written = run(message, model.copy()) if message else {"model": model}
    dyn = written.get("dyn") or gd.NewtonEuler(written["model"])
    follow = Following(model, written["model"])
    data, theirs, m = model.createData(), mujoco.MjData(mj), np.zeros((mj.nv, mj.nv))
    for state in states(mj):
        follow.apply(*state)
        theirs.qpos, theirs.qvel, theirs.qacc = state
        mujoco.mj_inverse(mj, theirs)
        mujoco.mj_fullM(mj, theirs, m)
        q, v, a, t = pinocchios(mj, *state)
        tau, expected = dyn.inverse_dynamics(*follow.state(q, v, a)).full().ravel(), t.T @ theirs.qfrc_inverse
        assert relative_error(tau, follow.g.T @ expected) < ROUNDING
        if not message:
            assert relative_error(pin.rnea(model, data, q, v, a), expected) < ROUNDING
        assert relative_error(pin.crba(model, data, q, pin.Convention.WORLD), t.T @ m @ t) < ROUNDING
        check_places(mj, theirs, model, data, q)


def check_places(mj: mujoco.MjModel, theirs: mujoco.MjData, model: pin.Model, data: pin.Data, q: Any) -> None:
    pin.framesForwardKinematics(model, data, q)
    bodies = [(mj.body(b).name, pin.FrameType.BODY, theirs.xpos[b], theirs.xmat[b]) for b in range(1, mj.nbody)]
    sites = [(mj.site(s).name, pin.OP_FRAME, theirs.site_xpos[s], theirs.site_xmat[s]) for s in range(mj.nsite)]
    for name, kind, position, rotation in bodies + sites:
        if name:
            place = data.oMf[model.getFrameId(name, kind)]
            assert relative_error(place.translation, position) < ROUNDING
            assert relative_error(place.rotation.ravel(), rotation) < ROUNDING


@pytest.mark.parametrize("name", MODELS)
def test_written_models_equal_mujoco(name: str) -> None:
    check(mujoco.MjModel.from_xml_string(MODELS[name]), *loaded(MODELS[name]))


def test_a_model_without_joints() -> None:
    model, message = loaded(DATA / "msh.xml")
    assert (model.name, model.nv, message) == ("msh", 0, "")


def test_the_model_of_the_wheel_with_everything() -> None:
    """A fluid and gravcomp, which no ``pin.Model`` can say, are refused; without these it equals MuJoCo's."""
    mj = mujoco.MjModel.from_xml_path(str(DATA / "model.xml"))
    with pytest.raises(MjcfError, match=r"robot: option: density 1.225 and viscosity 1.8e-05 are those of a fluid"):
        gd.load_mjcf(mj)
    mj.opt.density = mj.opt.viscosity = 0
    with pytest.raises(MjcfError, match=r"robot: body 'head': gravcomp=0.5 lifts it by a force"):
        gd.load_mjcf(mj)
    mj.body_gravcomp[:] = 0
    check(mj, *loaded(mj))


REFUSED = {
    "allegro_left_hand.urdf",
    "allegro_right_hand.urdf",
    "romeo_laas_small.urdf",
    "tiago.urdf",
    "tiago_dual.urdf",
    "tiago_no_hand.urdf",
}
"""MuJoCo refuses their inertias."""
IMMOBILE = {"iris_simple.urdf", "ur3.urdf"}
FILES = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name not in REFUSED | IMMOBILE]


def without_meshes(path: Path) -> str:
    """A URDF without bodies, which MuJoCo would look for, and whose fixed links stay links."""
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
    compiler = '<compiler fusestatic="false" balanceinertia="true" boundmass="1e-3" boundinertia="1e-6"/>'
    return text.replace("</robot>", f"<mujoco>{compiler}</mujoco></robot>")


def test_there_are_enough_robots() -> None:
    assert len(FILES) + len(MODELS) > 100


@pytest.mark.filterwarnings("ignore::gdalembert.errors.CleaningWarning")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_robots_of_example_robot_data_equal_mujoco(path: Path, tmp_path: Path) -> None:
    """The MJCF that MuJoCo writes of them: arms, hands, quadrupeds, humanoids, every other one with a free base."""
    spec = mujoco.MjSpec.from_string(without_meshes(path))
    if FILES.index(path) % 2:
        spec.worldbody.first_body().add_freejoint()
    spec.compile()
    file = tmp_path / "robot.xml"
    file.write_text(spec.to_xml(), encoding="utf-8")
    check(mujoco.MjModel.from_xml_path(str(file)), *loaded(file))


# What a model does not hold.

FLUID = '<option density="1"/>'
TENDON = '<tendon><fixed name="t" {}><joint joint="j1" coef="1"/></fixed></tendon>'
CIRCLE = '<equality><joint joint1="j2" joint2="j1"/><joint joint1="j1" joint2="j2"/></equality>'
REFUSALS = {
    "density": (mjcf(arm(), FLUID), "option: density 1 and viscosity 0 are those of a fluid"),
    "viscosity": (mjcf(arm(), '<option viscosity="2"/>'), "option: density 0 and viscosity 2 are those of a fluid"),
    "gravcomp": (mjcf(arm(b='gravcomp="1"')), "body 'b': gravcomp=1 lifts it by a force"),
    "stiffness of a tendon": (mjcf(arm(), after=TENDON.format('stiffness="1"')), "tendon 't': has stiffness, which"),
    "damping of a tendon": (mjcf(arm(), after=TENDON.format('damping="1"')), "tendon 't': has damping, which"),
    "armature of a tendon": (mjcf(arm(), after=TENDON.format('armature="1"')), "tendon 't': has armature, which"),
    "friction of a tendon": (mjcf(arm(), after=TENDON.format('frictionloss="1"')), "tendon 't': has frictionloss,"),
    "spring of a ball": (mjcf(body('<joint name="s" type="ball" stiffness="1"/>')), "joint 's': is free or a ball and"),
    "spring of a base": (mjcf(body('<joint name="s" type="free" stiffness="1"/>')), "joint 's': is free or a ball and"),
    "armature of a base": (mjcf(body('<joint name="s" type="free" armature="1"/>')), "joint 's': is free and has arma"),
    "friction of a base": (
        mjcf(body('<joint name="s" type="free" frictionloss="1"/>')),
        "is free and has frictionl",
    ),
    "polynomial spring": (mjcf(arm('stiffness="1 2 3"')), "joint 'j1': has a polynomial spring; give one stiffness"),
    "polynomial damping": (mjcf(arm('damping="1 2 3"')), "joint 'j1': has polynomial damping; give one number"),
    "plastic spring": (mjcf(arm('springyield="3" stiffness="1"')), "joint 'j1': has a plastic spring (springyield)"),
    "polynomial damping of an actuator": (
        mjcf(arm(), after='<actuator><motor name="m" joint="j1" damping="1 2 3"/></actuator>'),
        "actuator 'm': has polynomial damping; give one number",
    ),
    "armature of a tendon's actuator": (
        mjcf(arm(), after=TENDON.format("") + '<actuator><motor name="m" tendon="t" armature="1"/></actuator>'),
        "actuator 'm': has armature or damping and moves no hinge or slide; remove it",
    ),
    "equality of tendons": (
        mjcf(arm(), after=TENDON.format("") + '<equality><tendon name="e" tendon1="t"/></equality>'),
        "equality 'e': is a tendon, which no constraint has; remove it",
    ),
    "nonlinear equality": (
        mjcf(arm(), after='<equality><joint joint1="j2" joint2="j1" polycoef="0 1 .2 0 0"/></equality>'),
        "equality 'equality0': is a polynomial of degree above 1; ",
    ),
    "joint held": (
        mjcf(arm(), after='<equality><joint joint1="j2"/></equality>'),
        "holds joint 'j2' where it is;",
    ),
    "circle of joints": (
        mjcf(arm(), after=CIRCLE),
        "equality 'equality1': closes a circle of joints that follow each other; remove it",
    ),
    "not MuJoCo's": (mjcf("<foo/>"), "MuJoCo refuses it: XML Error: Schema violation: unrecognized element"),
    "massless": (mjcf("<body><joint/></body>"), "MuJoCo refuses it: Error: mass and inertia of moving bodies must be"),
    "not XML": ("<mujoco>", "MuJoCo refuses it: XML parse error"),
    "URDF": ('<robot name="r"><link name="a"/></robot>', "<text>: this is a URDF; read it by gd.load_urdf"),
    "SDF": ("<sdf/>", "<text>: its root element is <sdf>, not <mujoco>; this is not MJCF"),
    "name of Pinocchio": (mjcf(body('<joint name="universe"/>')), "joint 'universe': has a name that Pinocchio uses"),
}


@pytest.mark.parametrize("check", ["warn", "off"])
@pytest.mark.parametrize("name", REFUSALS)
def test_what_acts_on_the_robot_and_no_model_can_say_is_refused(name: str, check: Any) -> None:
    text, sentence = REFUSALS[name]
    with pytest.raises(MjcfError, match=re.escape(sentence)) as caught:
        gd.load_mjcf(text, check=check)
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_what_does_not_act_is_not_refused() -> None:
    """Springs and dampers that are switched off, gravcomp without gravity, equalities that are not active."""
    off = (
        '<option gravity="0 0 0"><flag spring="disable" damper="disable" equality="disable" limit="disable"/></option>'
    )
    robot = arm('stiffness="1 2 3"', 'damping="1 2 3" range="-1 1"', b='gravcomp="1"')
    after = TENDON.format('stiffness="1" damping="2"') + '<equality><joint joint1="j2"/></equality>'
    model, message = loaded(mjcf(robot, off, after))
    assert message == ""
    assert not model.damping.any()
    assert model.upperPositionLimit[1] > 1e100
    _, message = loaded(mjcf(arm(), after='<equality><joint joint1="j2" active="false"/></equality>'))
    assert message == ""


def test_the_line_to_write() -> None:
    text = mjcf(
        arm('stiffness="2" frictionloss=".5"', 'stiffness="5" springref=".25" armature=".5" damping="1"'),
        after='<equality><joint joint1="j2" joint2="j1" polycoef=".5 2 0 0 0"/></equality>',
    )
    model, message = loaded(text)
    assert message == (
        "<text>: a pin.Model does not apply the equalities of joints, springs and friction of the file; to have them, "
        "write model.armature[0] += 2.0; model.damping[0] += 4.0; "
        "model = pin.transformJointIntoMimic(model, 1, 2, 2.0, 0.5); "
        "dyn = gd.NewtonEuler(model, springs={'j1': (22.0, -0.11363636363636363)}, friction='model')"
    )
    with pytest.raises(MjcfError, match=re.escape(message)):
        gd.load_mjcf(text, check="strict")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gd.load_mjcf(text, check="off") == model
    np.testing.assert_array_equal(model.upperDryFrictionLimit, [0.5, 0])
    np.testing.assert_array_equal(model.lowerDryFrictionLimit, [-0.5, 0])


COUPLED = body(
    '<joint name="a"/><joint name="b" stiffness="3" springref=".4" armature=".2" damping=".1" ref=".3"/>',
    body(
        '<joint name="c" type="slide" stiffness="2" damping=".3"/>'
        '<joint name="d" armature=".4" axis="1 0 0" ref="-.2"/>'
    ),
)


@pytest.mark.parametrize("base", ["", "<freejoint/>"])
def test_joints_that_follow_others(base: str) -> None:
    """In a row, the later one first, and with springs, which the joint that is followed takes over."""
    equalities = """<equality><joint joint1="b" joint2="d" polycoef=".1 -2 0 0 0"/>
        <joint joint1="c" joint2="b" polycoef="0 .5 0 0 0"/></equality>"""
    text = mjcf(body(base, COUPLED), after=equalities)
    model, message = loaded(text)
    assert message.count("transformJointIntoMimic") == 2
    mj = mujoco.MjModel.from_xml_string(text)
    follow, data = Following(model, run(message, model.copy())["model"]), mujoco.MjData(mj)
    for state in states(mj):
        follow.apply(*state)
        data.qpos, data.qvel, _ = state
        mujoco.mj_forward(mj, data)
        assert data.ne == 2
        assert np.abs(data.efc_pos[:2]).max() < ROUNDING
        assert np.abs(data.efc_J.reshape(data.nefc, mj.nv)[:2] @ data.qvel).max() < ROUNDING
    check(mj, model, message)


LOOPS = {
    "connect": '<connect name="pin" body1="coupler" body2="rocker" anchor="0.4 0 0"/>',
    "connect to the world": '<connect body1="load" anchor="0.1 0.05 0.2"/>',
    "weld": '<weld body1="load" body2="coupler" relpose="-0.4 0 -0.1 .9 .1 .2 .3" anchor="0.1 0 0.2"/>',
    "weld as it stands": '<weld body1="load" body2="coupler"/>',
    "weld to the world": '<weld body1="load" relpose="-0.4 0 -0.1 .9 .1 .2 .3"/>',
    "sites": '<connect site1="one" site2="two"/>',
    "weld of sites": '<weld site1="one" site2="three"/>',
}
LINKS = """
<body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01"/>
  <body name="coupler" pos="0 0 0.2"><joint name="coupler" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.01"/><site name="one" pos="0.4 0.01 0" euler="0.1 0.2 0.3"/>
  </body>
</body>
<body name="rocker" pos="0.4 0 0"><joint name="rocker" type="ball"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.01"/><site name="two" pos="0.01 0 0.31"/>
</body>
<body name="load" pos="0.4 0 0.3"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
  <joint name="z" type="slide" axis="0 0 1"/><joint name="load" type="ball"/>
  <geom type="box" size="0.01 0.02 0.03" pos="0 0 0.01"/><site name="three" pos="0 0.02 0" euler="0.3 0.2 0.1"/>
</body>"""


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_those_of_mujoco(name: str) -> None:
    """Where ours are closed, MuJoCo's are; and the same velocities keep them so."""
    text = mjcf(LINKS, '<option><flag contact="disable"/></option>', f"<equality>{LOOPS[name]}</equality>")
    model, message = loaded(text)
    con = run(message, model)["con"]
    rng = np.random.default_rng(0)
    q = con.closed_configuration(pin.integrate(model, pin.neutral(model), 0.1 * rng.normal(size=model.nv)))
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    data.qpos = q
    for *_, quaternion in joints(mj):
        data.qpos[quaternion] = q[quaternion][[3, 0, 1, 2]]
    mujoco.mj_forward(mj, data)
    theirs = data.efc_J.reshape(data.nefc, mj.nv)[: data.ne]
    ours = con.jacobian(q).full()
    assert data.ne == len(ours)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-9  # the tolerance of closed_configuration
    _, size, rows = np.linalg.svd(ours)
    assert size.min() > 1e-3
    assert np.abs(theirs @ rows[len(ours) :].T).max() < 1e-8
    assert np.linalg.matrix_rank(theirs) == len(ours)


def test_frames_of_loops_have_names_of_their_own() -> None:
    """A site may have the name that a frame would get, or that of a body; then its index is written."""
    links = LINKS.replace('"one"', '"pin/rocker"').replace('"two"', '"load"')
    connect = '<connect name="pin" body1="coupler" body2="rocker" anchor="0.4 0 0"/>'
    sites = '<connect site1="pin/rocker" site2="load"/>'
    model, message = loaded(mjcf(links, after=f"<equality>{connect}{sites}</equality>"))
    index = next(k for k, frame in enumerate(model.frames) if frame.name == "load" and frame.type == pin.OP_FRAME)
    assert "gd.Loop('pin/coupler', 'pin/rocker_', '3D'), gd.Loop('pin/rocker', " + f"{index}, '3D')]" in message


def test_what_cannot_move_is_no_loop() -> None:
    fixed = mjcf(
        arm(inside=body("", attributes='name="tool"')), after='<equality><weld body1="b" body2="tool"/></equality>'
    )
    assert loaded(fixed)[1] == ""


def test_a_planar_linkage_is_regularized() -> None:
    """One of its rows is redundant: the line that is written says so, and runs as it stands."""
    linkage = arm() + '<body name="c" pos="0 .1 -.9"><joint axis="0 1 0"/><geom size=".1"/></body>'
    model, message = loaded(mjcf(linkage, after='<equality><connect body1="b" body2="c" anchor="0 0 -.2"/></equality>'))
    con = run(message, model)["con"]
    q = con.closed_configuration(np.array([0.3, 0.4, 0.0]))
    assert con.regularization == 1e-6
    assert np.linalg.matrix_rank(con.jacobian(q).full()) == 2
    acceleration, _ = (value.full() for value in con.forward_dynamics(q, np.zeros(3), np.ones(3)))
    assert np.abs(con.jacobian(q).full() @ acceleration).max() < 1e-5 * np.abs(acceleration).max()


@pytest.mark.parametrize("row", ['range="1 2" limited="true"', 'frictionloss="1"'])
def test_loops_stand_beside_limits_and_friction(row: str) -> None:
    """MuJoCo numbers their rows by joints: more joints than equalities, the last of which leaves its range at qpos0."""
    bodies = arm() + body(f'<joint name="j3" axis="1 0 0" {row}/>', attributes='name="c" pos="0 .1 -.9"')
    connect = '<equality><connect body1="b" body2="c" anchor="0 0 -.2"/></equality>'
    _, message = loaded(mjcf(bodies, after=f"<compiler angle='radian'/>{connect}"))
    assert "gd.Loop('equality0/b', 'equality0/c', '3D')]" in message


# Names, limits, configurations.


def test_names_of_joints_and_frames() -> None:
    model, _ = loaded(MODELS["unnamed"])
    assert list(model.names) == ["universe", "body1_hinge", "body2_hinge", "body3_hinge", "body3_hinge_2"]
    assert [model.frames[k].name for k in range(3)] == ["universe", "body1_hinge", "body1"]
    model, _ = loaded(mjcf(body('<joint/><joint name="b_hinge"/>', attributes='name="b"')))
    assert list(model.names) == ["universe", "b_hinge_2", "b_hinge"]
    assert model.name == "robot"
    assert loaded(mjcf(arm()).replace("<mujoco>", '<mujoco model="m">'))[0].name == "m"


def test_fixed_bodies_can_be_told_from_their_link() -> None:
    """As those of a URDF: the payload of a flexible link."""
    model, _ = loaded(mjcf(arm(inside=body("", attributes='name="tool" pos="0 0 -.4"'))))
    fixed = next(frame for frame in model.frames if frame.name == "tool_fixed")
    assert fixed.type == pin.FrameType.FIXED_JOINT
    assert fixed.inertia.mass == 2
    assert model.inertias[2].mass == 2.5
    beam = gd.Beam.tube(0.4, outer_diameter=0.04, wall=0.003, density=2700, youngs_modulus=70e9)
    flexible = gd.FlexibleArm(model, {"b": gd.FlexibleLink(beam, to="tool", keep_body=True)})
    assert flexible.tree.nv > 2


def test_limits() -> None:
    motors = """<actuator><motor joint="j1" gear="3" ctrlrange="-1 2"/><motor joint="j1" gear="-1" forcerange="-5 1"/>
      <position joint="j2" kp="10" ctrlrange="-1 1"/></actuator>"""
    free = mjcf(arm('range="-1 2"', 'range="-2 1" actuatorfrcrange="-7 8"'), after=motors)
    model, _ = loaded(free)
    np.testing.assert_array_equal(model.lowerPositionLimit, [-1, -2])
    np.testing.assert_array_equal(model.upperPositionLimit, [2, 1])
    np.testing.assert_array_equal(model.lowerEffortLimit, [-4, -7])
    np.testing.assert_array_equal(model.upperEffortLimit, [11, 8])
    model, _ = loaded(mjcf(arm(), after='<actuator><motor joint="j1" gear="0"/></actuator>'))
    assert np.all(model.upperEffortLimit > 1e100)
    assert np.all(model.upperPositionLimit > 1e100)


def test_configurations() -> None:
    key = '<keyframe><key name="home" qpos="1 2 3 .5 .4 -.3 .2 .7"/></keyframe>'
    model, _ = loaded(mjcf(FREE, after=key))
    expected = np.array([0.4, -0.3, 0.2, 0.5]) / np.linalg.norm([0.4, -0.3, 0.2, 0.5])
    assert relative_error(model.referenceConfigurations["home"], [1, 2, 3, *expected, 0.7]) < ROUNDING
    assert relative_error(model.referenceConfigurations["qpos0"], [0.1, 0.2, 0.3, *expected, 0]) < ROUNDING
    model, _ = loaded(MODELS["ref"])
    np.testing.assert_array_equal(model.referenceConfigurations["qpos0"], [0.4, -1])


# Root joints.


def test_a_root_joint_moves_the_body_without_one() -> None:
    """From where it stands; what stands beside it stays."""
    stand = '<body name="stand" pos="1 2 3" euler=".1 .2 .3"><geom size=".1" mass="3"/>{}</body>'
    floor = '<body name="floor" pos="0 0 -1"><geom size=".1"/></body>'
    still, _ = loaded(mjcf(floor + stand.format(arm())))
    model, _ = loaded(mjcf(floor + stand.format(arm())), root_joint=pin.JointModelFreeFlyer())
    assert list(model.names) == ["universe", "root_joint", "j1", "j2"]
    q = np.array([0.3, 0.4])
    whole = np.concatenate([np.zeros(6), [1], q])
    tau = pin.rnea(model, model.createData(), whole, np.zeros(8), np.zeros(8))
    assert relative_error(tau[6:], pin.rnea(still, still.createData(), q, np.zeros(2), np.zeros(2))) < ROUNDING
    assert np.linalg.norm(tau[:3]) == pytest.approx(4.5 * 9.81, rel=ROUNDING)
    for name in ("b", "floor"):
        places = [m.createData() for m in (still, model)]
        for m, data, x in zip((still, model), places, (q, whole), strict=True):
            pin.framesForwardKinematics(m, data, x)
        one, other = (d.oMf[m.getFrameId(name)] for m, d in zip((still, model), places, strict=True))
        assert relative_error(one.homogeneous, other.homogeneous) < ROUNDING
    target = '<body name="target" mocap="true"><geom size=".1"/></body>'
    single, _ = loaded(mjcf(target + '<body name="box"><geom size=".1"/></body>'), root_joint=pin.JointModelFreeFlyer())
    assert single.nv == 6


@pytest.mark.parametrize("bodies", [arm(), FREE, "", f"<body>{arm()}</body><body>{arm(name='x')}</body>"])
def test_a_root_joint_without_its_body_is_refused(bodies: str) -> None:
    with pytest.raises(ArgumentError, match="root_joint: it moves the root body that has no joint, and <text> has"):
        gd.load_mjcf(mjcf(bodies), root_joint=pin.JointModelFreeFlyer())


# Sources.


def test_sources(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.xml"
    path.write_text(mjcf(arm()), encoding="utf-8")
    models = [loaded(source)[0] for source in (path, str(path), mjcf(arm()), mujoco.MjModel.from_xml_path(str(path)))]
    assert models[0].name == models[1].name == "pendulum"
    assert all(np.array_equal(m.inertias[1].matrix(), models[0].inertias[1].matrix()) for m in models)
    (tmp_path / "scene.xml").write_text('<mujoco><include file="pendulum.xml"/></mujoco>', encoding="utf-8")
    assert loaded(tmp_path / "scene.xml")[0].nv == 2


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MjcfError, match=r"no.xml: cannot be read: No such file or directory"):
        gd.load_mjcf(tmp_path / "no.xml")
    with pytest.raises(ArgumentTypeError, match=r"expected an MJCF file, got a pin.Model; it needs no loading"):
        gd.load_mjcf(pin.Model())
    with pytest.raises(ArgumentTypeError, match=r"a path, the text of an MJCF file or a mujoco.MjModel, got int"):
        gd.load_mjcf(3)
    with pytest.raises(ArgumentTypeError, match="root_joint is the class JointModelFreeFlyer; call it"):
        gd.load_mjcf(mjcf(arm()), root_joint=pin.JointModelFreeFlyer)
    with pytest.raises(ArgumentError, match="load_mjcf: check"):
        gd.load_mjcf(mjcf(arm()), check="maybe")  # type: ignore[arg-type]
    big = tmp_path / "big.xml"
    big.write_text(mjcf("<!--" + "-" * 10_000_001 + "-->"), encoding="utf-8")
    with pytest.raises(MjcfError, match=r"big.xml: is larger than 10 MB"):
        gd.load_mjcf(big)


def test_a_missing_mesh_is_named(tmp_path: Path) -> None:
    asset = '<asset><mesh name="m" file="no.stl"/></asset>'
    with pytest.raises(MjcfError, match=r"<text>: MuJoCo refuses it: Error: Error opening file 'no.stl'"):
        gd.load_mjcf(mjcf('<body><joint/><geom type="mesh" mesh="m"/></body>', asset))


def test_warnings_of_mujoco_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo would write them to a file in the current folder; who hears them before, does so afterwards."""
    monkeypatch.chdir(tmp_path)
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        with pytest.warns(MjcfWarning, match=r"^<text>: MuJoCo warns: compiler attribute 'settotalmass' is"):
            gd.load_mjcf(MODELS["settotalmass"])
        with pytest.raises(MjcfError, match=r"^<text>: MuJoCo warns: compiler attribute 'settotalmass' is"):
            gd.load_mjcf(MODELS["settotalmass"], check="strict")
        assert heard == []
        mujoco.MjModel.from_xml_string(MODELS["settotalmass"])
        assert len(heard) == 1
    finally:
        mujoco.set_mju_user_warning(None)
    assert list(tmp_path.iterdir()) == []
    gd.load_mjcf(MODELS["settotalmass"], check="off")
    assert list(tmp_path.iterdir()) == []


def test_mujoco_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(MissingPackageError, match=r'load_mjcf needs mujoco: pip install "gdalembert\[mjcf\]"'):
        gd.load_mjcf(mjcf(arm()))
