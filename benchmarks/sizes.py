"""How large the graphs are: instructions of every Function, formulation by formulation, robot by robot.

    python benchmarks/sizes.py            all robots
    python benchmarks/sizes.py panda7     these

Counts are exact and the same on every machine. The table goes to standard output and, for all robots, to
``benchmarks/results/sizes.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from robots import HERE, NAMES, load

import gdalembert as gd
from gdalembert.functions import count

FUNCTIONS = (
    "inverse_dynamics",
    "nle",
    "generalized_gravity",
    "mass_matrix",
    "coriolis_matrix",
    "forward_dynamics",
    "state_derivative",
    "kinetic_energy",
    "potential_energy",
    "terms",
)


def table(names: list[str]) -> str:
    """One section a robot, one row a Function, one column a formulation."""
    lines = ["# Graph sizes", "", "Instructions of each SX Function (multiplications + additions), default options."]
    for name in names:
        model = load(name)
        dynamics = [cls(model) for cls in gd.formulations().values()]
        lines += ["", f"## {name} (nv = {model.nv})", "", f"| | {' | '.join(dyn.name for dyn in dynamics)} |"]
        lines.append("|---|" + "---|" * len(dynamics))
        for function in FUNCTIONS:
            counts = [count(getattr(dyn, function)) for dyn in dynamics]
            cells = [f"{c['instructions']} ({c['multiplications'] + c['additions']})" for c in counts]
            lines.append(f"| {function} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=f"any of {', '.join(NAMES)}")
    chosen = parser.parse_args().robots
    text = table(chosen or list(NAMES))
    print(text)
    if not chosen:
        path = Path(HERE) / "results" / "sizes.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
