"""What is asked for by name beside the equations of motion: letters, regressors, wrenches in joints, kinematics."""

from __future__ import annotations

import re
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.dynamics.named_functions import NamedFunction
from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError
from gdalembert.export import FORMATS, derive
from tests.helpers.exports import TOLERANCE, executed
from tests.helpers.models import relative_error

ARM = gd.load_urdf("puma560_3")
PLACED, JACOBIAN = "frame_placement:wrist", "frame_jacobian:wrist:LOCAL_WORLD_ALIGNED"
ASKED = ("M", "C", "g", "tau", "torque_regressor", "base_regressor", "joint_wrenches", PLACED, JACOBIAN)
Q, V, A = np.random.default_rng(0).normal(size=(3, 3))


def by_pinocchio() -> dict[str, np.ndarray]:
    """The same by Pinocchio, by the name in code."""
    data = ARM.createData()
    tau = pin.rnea(ARM, data, Q, V, A).copy()
    wrenches = np.array([data.f[k].vector for k in range(1, ARM.njoints)]).T
    mass_matrix, coriolis = pin.crba(ARM, data, Q, pin.Convention.WORLD), pin.computeCoriolisMatrix(ARM, data, Q, V)
    frame = ARM.getFrameId("wrist")
    pin.framesForwardKinematics(ARM, data, Q)
    return {
        "mass_matrix": np.triu(mass_matrix) + np.triu(mass_matrix, 1).T,
        "coriolis_matrix": coriolis,
        "generalized_gravity": pin.computeGeneralizedGravity(ARM, data, Q)[:, None],
        "inverse_dynamics": tau[:, None],
        "torque_regressor": pin.computeJointTorqueRegressor(ARM, data, Q, V, A),
        "joint_wrenches": wrenches,
        "frame_placement_wrist": data.oMf[frame].homogeneous,
        "frame_jacobian_wrist_LOCAL_WORLD_ALIGNED": pin.computeFrameJacobian(
            ARM, pin.Data(ARM), Q, frame, pin.LOCAL_WORLD_ALIGNED
        ),
    }


@pytest.mark.long
def test_code_is_what_pinocchio_computes() -> None:
    (source,) = derive(ARM, "python", terms=ASKED).values()
    module, given = executed(source), {"q": Q, "v": V, "a": A}
    for name, expected in by_pinocchio().items():
        inputs = re.search(rf"^def {name}\((.*)\):$", source, re.MULTILINE)
        assert inputs is not None
        value = np.array(module[name](*(given[x] for x in inputs[1].split(", ")))).reshape(expected.shape)
        assert relative_error(value, expected) <= 1e-11, name  # of constants that were cleaned
    base = gd.NewtonEuler(ARM).base_parameters
    y = np.array(module["base_regressor"](Q, V, A))
    armature = ARM.armature[:, None] * A[:, None]
    tau = y @ base.of(ARM)[:, None] + armature
    assert relative_error(tau, by_pinocchio()["inverse_dynamics"]) <= 1e-11
    for k, formula in enumerate(base.names, 1):
        assert f"beta_{k} = {formula.replace('*', ' ')[:30]}" in source
    assert "tau = Y_base beta + I_act a, without friction" in " ".join(source.split())


@pytest.mark.long
@pytest.mark.parametrize("to", FORMATS)
def test_every_format_writes_them(to: str) -> None:
    files = derive("two_link_arm", to, terms=[x.replace("wrist", "tip") for x in ASKED], symbolic=False)
    text = " ".join([*files, *files.values()])
    labels = ("J_tip_LOCAL_WORLD_ALIGNED", "T_tip") if to == "sympy" else ("frame_jacobian_tip_LOCAL_WORLD_ALIGNED",)
    if to == "latex":
        labels = (r"T^{\mathrm{tip}}_{14}", r"J^{\mathrm{tip LOCAL WORLD ALIGNED}}_{11}", r"Y^{\mathrm{base}}_{11}")
    assert all(label in text for label in labels)


def test_closed_forms_of_kinematics_and_regressors() -> None:
    (source,) = derive("two_link_arm", "sympy", terms=["frame_placement:tip", "torque_regressor"]).values()
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    model = gd.load_urdf("two_link_arm")
    values = {f"{x}_{k + 1}": y[k] for x, y in (("q", Q), ("v", V), ("a", A)) for k in range(2)}
    values |= gs.symbolic_tree(model).numbers
    placed, regressor = (
        np.array(namespace["forms"][name].subs({sympy.Symbol(x, real=True): y for x, y in values.items()}), dtype=float)
        for name in ("T_tip", "Y")
    )
    assert relative_error(placed, gd.Kinematics(model).frame_placement("tip")(Q[:2]).full()) <= TOLERANCE
    expected = gd.NewtonEuler(model).torque_regressor(Q[:2], V[:2], A[:2]).full()
    assert relative_error(regressor, expected) <= TOLERANCE


def test_closed_forms_of_a_chain_have_its_lengths() -> None:
    rows = [gs.Row(a=f"l_{k}", mass=f"m_{k}", com=(f"-l_{k}/2", 0, 0)) for k in (1, 2, 3)]
    arm = gs.from_denavit_hartenberg(rows=rows, name="rrr")
    placed = gs.closed_forms(arm, of="frame_placement:frame2")["T"]
    assert placed[0, 3] == gs.formula("l_1*cos(q_1) + l_2*cos(q_1 + q_2)")
    jacobian = gs.closed_forms(arm, of="frame_jacobian:joint3:LOCAL_WORLD_ALIGNED")["J"]
    assert jacobian[1, 1] == gs.formula("l_2*cos(q_1 + q_2)")
    assert jacobian[1, 2] == gs.formula("0")
    position = gd.Kinematics(arm).frame_placement("frame3")
    at = dict.fromkeys(arm.parameters.names, 1.0) | {"l_1": 0.5, "l_2": 0.4, "l_3": 0.3}
    assert position([0.0, 0.0, 0.0], arm.parameters.vector(at))[0, 3] == pytest.approx(1.2)


def test_frames_of_a_symbolic_tree_are_those_of_the_model() -> None:
    tree = gs.symbolic_tree(ARM)
    kinematics, values = gd.Kinematics(tree), tree.parameters.values
    expected = gd.Kinematics(ARM).frame_placement("wrist")(Q).full()
    assert relative_error(kinematics.frame_placement("wrist")(Q, values).full(), expected) <= TOLERANCE


@pytest.mark.parametrize(
    ("term", "error", "message"),
    [
        ("frame_placement", ArgumentError, "frame_placement: is that of a frame; name it, as frame_placement:tip"),
        ("frame_placement:tipp", UnknownNameError, "no frame named 'tipp'; nearest: 'tip'"),
        ("frame_jacobian:tip:UP", UnknownNameError, "no reference named 'UP'; known: 'LOCAL', 'WORLD', 'LOCAL_WORLD_A"),
        ("frame_placement:tip:LOCAL", ArgumentError, "a placement is in the universe; leave it out"),
        ("frame_jacobian:tip", ArgumentError, "say in which reference, as frame_jacobian:tip:LOCAL, or WORLD or LOCAL"),
        ("frame_jacobain:tip", UnknownNameError, "named 'frame_jacobain:tip'"),
    ],
)
def test_what_is_asked_wrongly(term: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive("two_link_arm", "c", terms=[term])


def test_frames_with_colons_and_equal_names_in_code() -> None:
    assert NamedFunction.read("frame_jacobian:a::b:LOCAL") == NamedFunction("frame_jacobian", "a::b", "LOCAL")
    assert NamedFunction.read("frame_placement:a::b") == NamedFunction("frame_placement", "a::b")
    model = gd.load_urdf("two_link_arm")
    for name in ("tool 1", "tool-1"):
        model.addFrame(pin.Frame(name, 2, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    with pytest.raises(ArgumentError, match="frames 'tool 1' and 'tool-1' have the same name in code"):
        derive(model, "c", terms=["frame_placement:tool 1", "frame_placement:tool-1"])


def test_base_parameters_are_those_of_numbers() -> None:
    with pytest.raises(UnsupportedError, match="base parameters are those of a geometry in numbers"):
        derive("two_link_arm", "latex", terms=["base_regressor"], symbolic=True)


@pytest.mark.parametrize(
    ("formulation", "sum_of_terms"),
    [
        ("lagrange_euler", r"D_{ij} a_j + I^{\mathrm{act}}_i a_i + \sum_j \sum_k h_{ijk} v_j v_k + c_i$"),
        ("generalized_dalembert", r"+ H^{\mathrm{tra}}_i + H^{\mathrm{rot}}_i + G_i$"),
        ("newton_euler", r"\mathrm{axis}_i \cdot \mathrm{moment}_i \text{ (revolute)"),
        (None, r"$\tau = M a + C v + g$"),
    ],
)
def test_latex_says_how_terms_add_up(formulation: str | None, sum_of_terms: str) -> None:
    (text,) = derive("two_link_arm", "latex", formulation=formulation).values()
    assert sum_of_terms in text
    if formulation is None:
        assert "Closed forms that are the same in every formulation." in text
        assert "$g_{1}$ is an entry of $g$, $g$ is the acceleration of gravity" in text
    if formulation == "lagrange_euler":
        assert "of which $h_{ijk}$ and $h_{ikj}$ both count" in text
        apart = (
            "is a coordinate of a centre of mass, upright $\\mathrm{c}_{12}$ is a cosine, $c_{1}$ is an entry of $c$"
        )
        assert all(part in text for part in apart.split(", "))


def test_the_sum_of_lagrange_euler_counts_both() -> None:
    """As the page says it, in numbers."""
    dyn = gd.LagrangeEuler(ARM)
    terms = dict(zip(dyn.terms.name_out(), (ca.DM(x).full() for x in dyn.terms(Q)), strict=True))
    h = np.array([terms[f"h_{k}"] for k in (1, 2, 3)])
    tau = terms["D"] @ A + terms["I_act"].ravel() * A + np.einsum("ijk,j,k->i", h, V, V) + terms["c"].ravel()
    assert relative_error(tau, by_pinocchio()["inverse_dynamics"].ravel()) <= 1e-11
