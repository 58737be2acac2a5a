"""``gdalembert info ROBOT``."""

from __future__ import annotations

import argparse

from gdalembert.cli.options import add_clean, add_robot, load
from gdalembert.cli.table import print_table
from gdalembert.dynamics.newton_euler.formulation import NewtonEuler
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Joint, Tree


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run` reads."""
    add_robot(parser)
    add_clean(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the joints and links of a robot, and which constants are rounded."""
    tree = read_tree(load(arguments.robot, arguments))
    dynamics = NewtonEuler(tree, clean=arguments.clean)
    changes = dynamics.changes
    gravity = ", ".join(f"{g:.6g}" for g in tree.gravity)
    print(f"{tree.name}: nq = {tree.nq}, nv = {tree.nv}, gravity ({gravity}) m/s²")
    print_table(("joint", "type", "parent", "mass [kg]", "armature"), [_row(tree, j) for j in tree.joints], (0, 1, 2))
    numbers = "1 number" if len(changes) == 1 else f"{len(changes)} numbers"
    effect = f", and tau by at most {dynamics.change_in_tau:.1e} (relative)" if changes else ""
    print(f"cleaning with tolerance {arguments.clean:g} changes {numbers}{effect}")
    for change in changes:
        print(f"  {change}")
    return 0


def _row(tree: Tree, joint: Joint) -> tuple[str, ...]:
    axis = joint.type.axis
    kind = joint.type.kind + ("" if axis is None else f" ({', '.join(f'{x:.6g}' for x in axis)})")
    if joint.scaling is not None:
        kind += f", mimics v[{joint.idx_v}]"
    parent = tree.joints[joint.parent].name if joint.parent >= 0 else "–"
    own = [f"{x:.6g}" for x in tree.armature[list(joint.columns)]] if joint.scaling is None else ["–"]
    return joint.name, kind, parent, f"{joint.mass:.6g}", own[0] if len(set(own)) == 1 else ", ".join(own)
