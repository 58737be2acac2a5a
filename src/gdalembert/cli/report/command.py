"""The command: its arguments, and the page put together."""

from __future__ import annotations

import argparse
import os
import platform
import time
from importlib import metadata
from pathlib import Path

from gdalembert.cli.main import tell
from gdalembert.cli.options import add_clean, add_robot, check_output, several
from gdalembert.cli.report import motion, robot
from gdalembert.cli.report.page import PageSection, escape, facts, page
from gdalembert.cli.report.subject import Subject, read
from gdalembert.errors import ArgumentError


def add_report(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run_report` reads."""
    add_robot(parser)
    add_clean(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="an .html file (default: report_ROBOT.html)")
    parser.add_argument("--plain", action="store_true", help="cylinders and boxes instead of the URDF's bodies")
    parser.add_argument("--no-gaps", action="store_true", help="leave out gaps between links, which take half a minute")
    text = "where package:// is looked for, before the folders above the URDF; repeatable"
    parser.add_argument("--package-dir", action="append", default=[], metavar="FOLDER", help=text)


def run_report(arguments: argparse.Namespace) -> int:
    """Write the report."""
    default = f"report_{Path(arguments.robot).stem}.html"
    output = Path(default if arguments.output is None else arguments.output)
    if output.suffix.lower() != ".html":
        raise ArgumentError(f"--output {output}: a report is a page; give a name that ends in .html")
    check_output("--output", str(output))
    subject = read(arguments)
    output.write_text(written(subject), encoding="utf-8")
    print(output)
    return 0


def written(subject: Subject) -> str:
    """The page of a robot."""
    begun = time.monotonic()
    tell(f"{subject.model.name}: what the URDF says, validation …")
    says = robot.says(subject)
    agrees, reports = robot.agrees(subject)
    tell(f"{subject.model.name}: sizes, compilation, speed …")
    speed, ratios = motion.speed(subject)
    tell(f"{subject.model.name}: torques, reach, gaps, parameters, formulas …")
    sections: list[PageSection] = [says, agrees, speed, motion.torques(subject), motion.reach(subject)]
    sections += [motion.gaps(subject)]
    sections += [robot.base(subject), robot.formulas(subject)]
    worst = max(check.error for report in reports for check in report.checks)
    good = all(report.ok for report in reports)
    mass = sum(inertia.mass for inertia in list(subject.model.inertias)[1:])
    shown = [
        (
            several(len(subject.tree.joints), "joint", "joints"),
            f"nq = {subject.tree.nq}, nv = {subject.tree.nv}, {mass:.4g} kg",
        ),
        (
            "agrees" if good else "disagrees",
            f"with Pinocchio on {reports[0].samples} states, to {worst:.0e} (relative)",
        ),
        (f"{subject.dynamics.inverse_dynamics.n_instructions():,}", "instructions of the inverse dynamics"),
        (f"{len(subject.dynamics.base_parameters)}", f"base parameters, of {10 * len(subject.tree.links)}"),
    ]
    if ratios is not None:
        shown.insert(3, speed_fact(*ratios))
    head = f"<h1>{escape(subject.model.name)}</h1><p class=lead>{escape(Path(subject.source).name)}: its rigid-body "
    head += "dynamics, checked against Pinocchio and measured on this machine.</p>"
    head += facts(shown) + motion.scene(subject)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("gdalembert", "pin", "casadi"))
    foot = f"Written by <code>gdalembert report</code> on {time.strftime('%Y-%m-%d')} in "
    foot += f"{time.monotonic() - begun:.0f} s; {escape(versions)}, Python {platform.python_version()}, "
    foot += f"{escape(_processor())}, {several(os.cpu_count() or 1, 'core', 'cores')}."
    return page(f"{subject.model.name}: report", head, sections, foot)


def speed_fact(call: float, batch: float) -> tuple[str, str]:
    """Ratios of speed to Pinocchio's RNEA, in words: of a compiled call, and of a state in a batch of them."""
    words = "as fast as pin.rnea, a call beside a call from Python, compiled"
    return f"{call:.3g} ×", f"{words}; a state in a batch {batch:.3g} × as fast as a call of pin.rnea"


def _processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
