"""The law machine: every law on random robots, and the smallest robot on which one fails.

``python -m tests.laws.machine --seed 17`` checks the robot of that seed, ``--cases 200`` as many from there on. A robot
that breaks a law is made smaller, part by part, for as long as it breaks the same law, and is printed as code.
"""

from __future__ import annotations

import argparse
import shutil
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tests.helpers.models import relative_error
from tests.laws import evaluations, frames_and_constraints  # noqa: F401  (which add their laws)
from tests.laws.cases import COMPILED, Case, code, draw, smaller
from tests.laws.laws import LAWS
from tests.laws.robots import Robot


@dataclass(frozen=True)
class Failure:
    """A case that breaks a law.

    Attributes:
        case: the case. ``law``: a name in ``LAWS``, or ``"construction"``.
        what: what differs and by how much, relatively; or an exception.
        exception: its type, or "".
    """

    case: Case
    law: str
    what: str
    exception: str = ""

    @property
    def kind(self) -> tuple[str, str]:
        """What stays the same while the case is made smaller."""
        return self.law, self.exception

    def __str__(self) -> str:
        call = f"check({code(self.case)}, {self.law!r})"
        imports = "from tests.laws.cases import Case, Joint\nfrom tests.laws.machine import check\n"
        return f"{self.law}: {self.what}\n\n{imports}\n{call}\n"


def failure(case: Case, *laws: str) -> Failure | None:
    """The first law that a case breaks, of all laws or of some."""
    at = "construction"
    try:
        robot = Robot(case)
        for at in LAWS if set(laws) <= {"construction"} else laws:
            for what, value, wanted, tolerance in LAWS[at](robot):
                error = relative_error(value, wanted)
                if not error <= tolerance:
                    return Failure(case, at, f"{what}: {error:.1e} (allowed {tolerance:.1e})")
    except Exception as raised:
        where = traceback.extract_tb(raised.__traceback__)[-1]
        kind = type(raised).__name__
        return Failure(case, at, f"{kind}: {raised}, at {where.filename}:{where.lineno}", kind)
    return None


def shrunk(found: Failure, breaks: Callable[[Case, str], Failure | None] = failure) -> Failure:
    """The same failure in a case of which nothing can be left out."""
    for case in smaller(found.case):
        other = breaks(case, found.law)
        if other is not None and other.kind == found.kind:
            return shrunk(other, breaks)
    return found


def check(case: Case, *laws: str) -> None:
    """Fail unless a case obeys all laws, or some, with the smallest case that does not.

    Raises:
        AssertionError: with that case as code.
    """
    __tracebackhide__ = True
    found = failure(case, *laws)
    if found is not None:
        raise AssertionError(str(shrunk(found)))


def without_compiler(case: Case) -> Case:
    """The case, evaluated without machine code."""
    return replace(case, evaluation="") if case.evaluation in COMPILED else case


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--law", choices=sorted(LAWS))
    given = parser.parse_args(arguments)
    failed = 0
    for seed in range(given.seed, given.seed + given.cases):
        case = draw(seed) if shutil.which("cc") else without_compiler(draw(seed))
        found = failure(case, *([given.law] if given.law else []))
        if found is not None:
            failed += 1
            print(f"seed {seed}: {shrunk(found)}", flush=True)
    print(f"{given.cases} cases, {failed} break a law")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
