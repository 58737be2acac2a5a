"""How the graphs grow with the number of joints: chains of n = 2 … 20, all axes skew, nothing zero.

    python benchmarks/scaling.py

For each Function the counts, and the order p of n^p between n = 10 and n = 20, which is what growth looks like once
the first links are behind. The table goes to standard output and to ``benchmarks/results/scaling.md``.
"""

from __future__ import annotations

import math

from robots import HERE, chain

import gdalembert as gd

LENGTHS = (2, 4, 6, 8, 10, 15, 20)
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "forward_dynamics")


def order(counts: dict[int, int]) -> float:
    """The exponent p of n^p from n = 10 to n = 20."""
    return math.log2(counts[20] / counts[10])


def table() -> str:
    lines = ["# Growth with the number of joints", "", "Instructions of each SX Function for a chain of n joints."]
    graphs = {n: {name: cls(chain(n)) for name, cls in gd.formulations().items()} for n in LENGTHS}
    for function in FUNCTIONS:
        lines += ["", f"## {function}", "", f"| | {' | '.join(f'n = {n}' for n in LENGTHS)} | order |"]
        lines.append("|---|" + "---|" * (len(LENGTHS) + 1))
        for name in gd.formulations():
            counts = {n: getattr(graphs[n][name], function).n_instructions() for n in LENGTHS}
            lines.append(f"| {name} | {' | '.join(map(str, counts.values()))} | {order(counts):.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    text = table()
    print(text)
    path = HERE / "results" / "scaling.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
