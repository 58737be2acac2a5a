"""The scripts in ``examples``: each runs, draws and prints its numbers; tests beside compute what it shows."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.printed import assert_printed
from tests.helpers.scripts import EXAMPLES, example

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]

PRINTED = {
    "cart_pendulum_swing_up --coarse": (
        "cart_pendulum: Solve_Succeeded after 48 iterations: cost 228.67, 3 s",
        "∫ force² dt: 228.67 N² s; with the limits of the model, 100 N and 2 m: 163.172 N² s",
        "largest force 12 N, farthest 0.299675 m",
        "knocked by 0.7 rad/s and held: it leans by 0.12 rad at most",
    ),
    "dual_arm_inverse_kinematics --targets 3": (
        "first: hands off by at most 1.6 mm and 0.2°, median of 18 iterations",
    ),
    "five_bar_robot": (
        "degrees of freedom: 2 of 4 joints",
        "∫ |u|² dt: 2.047 N² m² s; the least: 1.216, torques up to 2.890 N m",
        "flexible: the hand is off by up to 5.5 mm, after the motion 2 mm",
    ),
    "flexible_arm_reaches --duration 0.3": (
        "ticks solved: 6 of 6",
        "off its targets at their ends: 215.74 mm",
        "deflections up to 246 mm, torques up to 3.00 N m of 3",
    ),
    "flexible_boom_design --coarse": (
        "wall of 0.5 mm: boom: Solve_Succeeded after 6 iterations: cost 3962.96",
        "best wall, 1.73 mm: boom: Solve_Succeeded after 21 iterations: cost 5157.37",
        "first frequency with added masses 4.103 Hz, of the tube 4.102 Hz",
        "the tube under these torques: deflection up to 20 mm",
    ),
    "flexible_feedback": (
        "the arm is as its model",
        "rigid plan: 447, 292",
        "flexible plan: 0.747",
        "the arm is 20 % softer",
        "rigid plan: 456, 234",
        "flexible plan: 110, 56.7",
    ),
    "flexible_past_post --coarse": (
        "rigid plan: 10.0 mm from the first post; the arm comes to -59.4 mm from the second post",
        "flexible plan: 10.0 mm from the",
    ),
    "flexible_rest_to_rest --coarse": (
        "rigid plan: two_link_flexible: Solve_Succeeded after 8 iterations: cost 4.60217",
        "flexible plan: two_link_flexible: Solve_Succeeded after 10 iterations: cost 4.66624",
        "joints held: rigid plan 372 mm, flexible plan 0.404 mm",
        "joints free: rigid plan 33.7 mm, flexible plan 0.987 mm",
    ),
    "four_bar_linkage": (
        "degrees of freedom: 1 of 3 joints",
        "torque at 6 rad/s: -5.048 to 4.574 N m",
        "EI = 22 N m², 2515 steps 6.4260 mm 0.238217 mrad",
    ),
    "identification": (
        "5 harmonics in 10 s excite 62 parameters",
        "base parameters 62 of 62 excited, condition number 12.6",
        "data sheet 25.98 15.34 17.62 13.34 64.94 122.32 73.48",
        "identified 1.09 0.99 1.02 1.02 1.23 1.53 1.13",
    ),
    "input_shaping --coarse": (
        "rigid 1.132 s: 168, 113, 22.6, 97.5, 109;",
        "ZV 1.225 s: 27.1, 9.29, 1.76, 8.02, 15.6;",
        "ZVD 1.318 s: 2.61, 0.912, 1.48, 2.04, 4.04;",
    ),
    "panda_from_shelf --coarse": (
        "without distances: 1.399 s",
        "with distances: 1.402 s",
    ),
    "panda_past_ball --duration 0.8": (
        "does not know of the ball: ticks solved: 160 of 160, least gap -107.5 mm of 20 mm",
        "makes way: ticks solved: 160 of 160, least gap 21.4 mm of 20 mm",
        "flange off its place: 114 mm",
    ),
    "panda_past_sphere --duration 0.2": (
        "ticks solved: 100 of 100",
        "flange to the centre of the sphere: at least 18.33 cm, allowed 8 cm, with a margin 9 cm",
        "torques up to 26% of their limits",
    ),
    "panda_time_optimal --coarse": (
        "full glass: 0.8712 s",
        "force at most 9.5000° off the axis",
        "empty glass: 0.7681 s",
        "force at most 52.7175° off the axis",
    ),
    "payload_lifting --coarse": (
        "plan without payload: panda7: Solve_Succeeded after 21 iterations: cost 0.398353",
        "plan with payload: panda7: Solve_Succeeded after 30 iterations: cost 0.880332",
        "servo alone error of the tool: 47.4 mm moving, 26 mm at the end",
        "with statics error of the tool: 17.6 mm moving",
    ),
    "payload_sweep --coarse --serial": (
        "12 simulations, 0 failures",
        "peak deflection [m] 0.0231 0.0237 0.043 0.0831 0.0868",
        "first frequency [Hz] 1.59 1.62 2.65 3.23 3.44",
    ),
    "puma_swing --coarse": (
        "2.00 s 0.0927 100.0% 24.3% 0.1323 131.1% 25.1%",
        "3.00 s 0.0855 100.0% 24.3% 0.1704 87.4% 23.9%",
    ),
    "quadrotor_to_pose --coarse": (
        "casadi.Opti: 12 iterations, thrusts from 0.968 to 5 N, unit length off by",
        "quadrotor: Solve_Succeeded after 9 iterations: cost 93.6421, 1.6 s",
    ),
    "receding_horizon --coarse": (
        "ticks solved: 59 of 60",
        "tool to the centre of the sphere: at least 12.8 cm, allowed 12 cm",
        "tool off its pose, far from the sphere: 7.8 mm, 1.1°",
    ),
    "soft_rod --coarse": (
        "0 N: tip at (0.490, -0.091) m; assumed modes are 3 mm off",
        "1 N: tip at (0.370, -0.307) m; assumed modes are 260 mm off",
        "let go, the tip falls to -0.071 m in 0.1 s",
    ),
    "solo12_hops --coarse": (
        "solo: Solve_Succeeded after 32 iterations: cost 2.90853, 0.885569 s in 3 phases",
        "the base rises from 0.199 m to 0.378 m",
        "it lands at 1.29 m/s; impulses of the feet 0.195 N s",
        "torques up to 1.57 N m, forces of the feet up to 17.5 N",
    ),
    "solo12_stands_up --coarse": (
        "7 iterations; the base rises from 0.086 m to 0.245 m",
        "a foot pushes with at most 11.0 N, a joint with 1.65 N m",
    ),
    "solo12_trots --shift --duration 0.3": (
        "ticks solved: 15 of 15",
        "base: 0.017 m ahead, off its pose by (root mean square) 4.9, 6.7, 1.8 mm, 20.9 mrad",
        "torques up to 0.81 N m of 2.7",
    ),
    "talos_on_one_foot --coarse": (
        "at most 100% of a torque limit; normal force 488 to 1307 N",
        "talos: Solve_Succeeded after 23 iterations: cost 39.8774, 0.2 s",
    ),
    "two_link_flexible --coarse": (
        "first frequencies [Hz]: [ 0.8032715 4.69751277 13.27887001]",
        "tip under 0.1 N across [m]: 0.019438607508830287",
        "joint angles after 0.25 s [rad]: [ 0.3459388 -0.65812335]",
        "largest deflection of link 2 [m]: 0.004931772961169867",
    ),
    "two_arms --coarse": (
        "without distances: 0.703 s, least gap -150.8 mm, left forearm and right forearm at 0.36 s",
        "with distances: 0.712 s, least gap 20.5 mm, left hand and right forearm at 0.37 s",
    ),
    "ur5_inverse_kinematics --targets 5": (
        "5 of 5 targets reached, 4 from home, all with at most 2 starts",
        "after a median of 9 iterations",
    ),
    "variational_integrator --coarse": (
        "kinetic energy between 0 and 32 J",
        "h = 20 ms: energy within 5.11 J, 5.11 J in the first half, 0.642 J in the second",
        "h = 10 ms: energy within 0.936 J, 0.936 J in the first half, 0.15 J in the second",
    ),
}
"""A command, and lines that it prints."""
COMPILED = ("flexible_arm_reaches", "flexible_feedback", "panda_past_ball", "panda_past_sphere", "solo12_trots")
"""Examples that need a C compiler."""


@pytest.mark.filterwarnings("ignore:ur10. the solver stopped with:gdalembert.ocp.SolutionWarning")  # one tick, as told
@pytest.mark.parametrize(
    "command",
    [pytest.param(each, marks=[pytest.mark.system] * each.startswith(COMPILED)) for each in PRINTED],
)
def test_an_example_prints_its_numbers(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, *arguments = command.split()
    script = example(name)
    picture = tmp_path / "drawn.png"
    draws = '"--plot"' in inspect.getsource(script)
    script.main([*arguments, *(["--plot", str(picture)] if draws else [])])
    said = capsys.readouterr().out
    assert "nan" not in said
    assert_printed(said, *PRINTED[command])
    assert not draws or picture.read_bytes().startswith(b"\x89PNG")


def test_every_example_has_a_test() -> None:
    """Of its numbers, and of what it shows; those of Pinocchio's clients are in ``tests/clients``."""
    names = {path.stem for path in EXAMPLES}
    tests = {path.stem for room in ("examples", "clients") for path in (ROOT / "tests" / room).glob("test_*.py")}
    assert {command.split()[0] for command in PRINTED} == names
    assert {f"test_{name}" for name in names} <= tests


def test_a_printed_number_that_differs_is_found() -> None:
    said = "cost 1.234,   2 s\ncost 5.0 after 100 steps"
    assert_printed(said, "cost 1.235, 2 s", "cost 5.0", "cost 5.0 after 95 steps")
    for wrong in ("cost 1.25", "price 1.234", "cost 1.234, 4 s", "cost 1.234 , 3 s", "after 70 steps"):
        with pytest.raises(AssertionError, match="in\n"):
            assert_printed(said, wrong)
