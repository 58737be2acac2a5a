"""One use of each room and of each package of the extras: ``.ci/run`` runs it with the lowest versions they may have.

With these, what is newest beside them warns of what it will drop: run it with ``-W default`` there.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin, export, ocp
from gdalembert.cli.main import main
from tests.helpers.models import relative_error

pytestmark = pytest.mark.extras

ROUNDING = 1e-12
ARM = gd.load_urdf("puma560_3")
Q, V, A = np.random.default_rng(0).normal(size=(3, 40, ARM.nv))
QUIET = MappingProxyType({"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})


def test_dynamics() -> None:
    data = ARM.createData()
    for formulation in (gd.NewtonEuler, gd.LagrangeEuler, gd.GeneralizedDAlembert):
        tau = formulation(ARM).inverse_dynamics(Q[0], V[0], A[0]).full().ravel()
        assert relative_error(tau, pin.rnea(ARM, data, Q[0], V[0], A[0])) < ROUNDING
    assert gd.validate(gd.NewtonEuler(ARM), against=ARM, samples=20, progress=True).ok


def test_kinematics_and_constraints() -> None:
    place = gd.Kinematics(ARM).frame_placement("wrist")(Q[0]).full()
    held = gd.ConstrainedDynamics(gd.NewtonEuler(ARM), [gd.Contact("wrist", "3D")])
    a, forces = held.forward_dynamics(Q[0], V[0], np.zeros(3))
    assert relative_error(gd.lie.exp6(gd.lie.log6(place)), place) < ROUNDING
    assert np.isfinite(a.full()).all()
    assert forces.shape == (3, 1)


def test_flexible_arms() -> None:
    beam = gd.Beam.tube(None, outer_diameter=0.1, wall=0.003, density=2700, youngs_modulus=70e9)
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": gd.FlexibleLink(beam, keep_body=True)})
    assert np.all(arm.natural_frequencies(arm.static_deflection([0.0, 0.0])) >= 0)


def test_calibration() -> None:
    kin = gd.Kinematics(ARM, parameters={"placement": ["joint2"]})
    real = kin.parameters.write(ARM, [1e-3, 0, 0, 0, 0, 2e-3])
    poses = [gd.Kinematics(real).frame_placement("wrist")(q).full() for q in Q]
    result = gd.calibration.fit(kin, "wrist", Q, np.array(poses))
    assert result.parameters["joint2.x"] == pytest.approx(1e-3, rel=1e-6)
    assert gd.calibration.poses(kin, "wrist", 5, ARM, candidates=20).shape == (5, 3)


def test_the_names_of_pinocchio() -> None:
    model = cpin.Model(ARM)
    tau = cpin.rnea(model, model.createData(), Q[0], V[0], A[0]).full().ravel()
    assert relative_error(tau, pin.rnea(ARM, ARM.createData(), Q[0], V[0], A[0])) < ROUNDING


def test_identification() -> None:
    """The fit is CVXPY's and Clarabel's."""
    dyn = gd.NewtonEuler(ARM, parameters={"inertia": True})
    tau = np.hstack([dyn.inverse_dynamics(*x, dyn.parameters.values).full() for x in zip(Q, V, A, strict=True)]).T
    result = gd.identification.fit(dyn, Q, V, A, tau, method="consistent", model=ARM)
    refitted = gd.NewtonEuler(result.model).inverse_dynamics(Q[0], V[0], A[0]).full().ravel()
    assert relative_error(refitted, tau[0]) < 1e-3  # the solver's


@pytest.mark.parametrize("method", ["radau", "dop853", "bdf", "adams", "rk4"])
def test_simulation(method: str) -> None:
    step = {"step": 0.01} if method == "rk4" else {}
    motion = gd.simulate(gd.NewtonEuler(ARM), (Q[0], V[0]), 0.1, lambda t, q, v: -20 * v, method=method, **step)
    assert np.isfinite(motion.x).all()


def test_interpreted_batches() -> None:
    graph = gd.NewtonEuler(ARM).inverse_dynamics
    tau = gd.compile(graph, interpreter=True).batch(Q, V, A)
    assert relative_error(tau[0], graph(Q[0], V[0], A[0]).full().ravel()) < ROUNDING


@pytest.mark.parametrize("solver", ["ipopt", "fatrop"])
def test_optimal_control(solver: str) -> None:
    problem = ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 1.0, 8)
    problem.start([0.0, 0.0])
    problem.end([0.5, 0.5])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    assert problem.solver(solver)().solved


def test_rockit() -> None:
    import rockit

    other = rockit.Ocp(T=1.0)
    robot = ocp.add_to_rockit(other, gd.NewtonEuler(gd.load_urdf("cart_pendulum")))
    for x in (robot.q, robot.v):
        other.subject_to(other.at_t0(x) == 0)
    other.subject_to(other.at_tf(robot.q) == ca.vertcat(0, 0.3))
    other.add_objective(other.integral(ca.sumsqr(robot.u)))
    other.solver("ipopt", dict(QUIET))
    other.method(rockit.DirectCollocation(N=5, M=1, degree=3, scheme="legendre"))
    assert np.isfinite(float(other.solve().value(other.objective)))


@pytest.mark.parametrize("language", sorted(export.FORMATS))
def test_exports(language: str) -> None:
    """Closed forms are SymPy's."""
    assert all(export.derive("two_link_arm", language).values())


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["robots"], ["info", "puma560"], ["count", "two_link_arm"], ["validate", "two_link_arm"]):
        assert main(words) == 0
    assert "two_link_arm: 3 formulations agree with Pinocchio on 1000 states" in capsys.readouterr().out


@pytest.mark.usefixtures("clean_matplotlib")
def test_figures(tmp_path: Path) -> None:
    """With a legend; and by the command line."""
    from gdalembert import plotting

    motion = gd.simulate(gd.NewtonEuler(ARM), (Q[0], V[0]), 0.1)
    plotting.motion(motion, ARM).savefig(tmp_path / "motion.png")
    plotting.torque_decomposition(ARM, motion, joint="joint2").get_figure(root=True).savefig(tmp_path / "parts.png")
    assert main(["plot", "torque-decomposition", "puma560_3", "--output", str(tmp_path / "by_command.png")]) == 0
    assert {path.read_bytes()[:4] for path in tmp_path.iterdir()} == {b"\x89PNG"}


def test_viewer(tmp_path: Path) -> None:
    """A Collada mesh, which pycollada reads; each viewer is at a port of its own, and can be closed at once."""
    import trimesh

    from gdalembert.viewer import Viewer

    trimesh.creation.box().export(tmp_path / "box.dae")
    bodies = pin.GeometryModel()
    box = pin.GeometryObject("box", 1, pin.SE3.Identity(), _mesh(tmp_path / "box.dae"))
    box.meshPath = str(tmp_path / "box.dae")
    bodies.addGeometryObject(box)
    for _ in range(4):
        with Viewer(ARM, visual_model=bodies, port=0) as viewer:
            assert viewer.server.get_port() > 0
            viewer.show(Q[0])


def _mesh(path: Path) -> object:
    import coal

    return coal.MeshLoader().load(str(path), np.ones(3))


def test_mujoco() -> None:
    """Of two joints and a motor; of MuJoCo's own arrays."""
    import mujoco

    ball = '<geom size="0.1" pos="1 0 0"/>'
    inner = f'<body pos="1 0 0"><joint type="ball"/>{ball}</body>'
    text = f"""<mujoco><worldbody><body><joint name="j" armature="1"/>{ball}{inner}</body></worldbody>
        <actuator><motor joint="j" gear="2" ctrlrange="-1 1"/></actuator></mujoco>"""
    model = gd.load_mjcf(text)
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    data.qvel = [1, 2, 3, 4]
    mujoco.mj_inverse(mj, data)
    tau = pin.rnea(model, model.createData(), pin.neutral(model), data.qvel, np.zeros(4))
    assert relative_error(tau, data.qfrc_inverse) < ROUNDING
    assert model.effortLimit[0] == 2


def test_cluster() -> None:
    from dask.distributed import Client

    robots = [gd.NewtonEuler(ARM), gd.LagrangeEuler(ARM)]
    with Client(processes=False, n_workers=1, dashboard_address=None) as client:
        futures = client.map(gd.simulate, robots, x0=(Q[0], V[0]), t=0.1, pure=False)
        first, second = client.gather(futures)
    assert relative_error(first.x, second.x) < 1e-6  # the tolerance of the integrator
