"""``gdalembert robots``."""

from __future__ import annotations

import argparse

from gdalembert.cli.output import print_table
from gdalembert.model.load_urdf import load_urdf, robot_folder, robots


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print the shipped robots, one a line."""
    rows = []
    for name in robots():
        model = load_urdf(name)
        rows.append((name, str(model.njoints - 1), str(model.nq), str(model.nv), _headline(name)))
    print_table(("robot", "joints", "nq", "nv", ""), rows, left=(0, 4))
    return 0


def _headline(robot: str) -> str:
    """The first line of the comment at the head of a shipped robot's file."""
    text = (robot_folder() / f"{robot}.urdf").read_text(encoding="utf-8")
    return text.partition("<!--")[2].strip().partition("\n")[0]
