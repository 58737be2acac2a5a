"""For test suites: one line that says a formulation is right."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from gdalembert.validation.report import Report
from gdalembert.validation.validate import Candidate, validate


def assert_valid(candidate: Candidate, model: pin.Model | None = None, **options: Any) -> Report:
    """Fail a test, showing the table of the report, unless the candidate agrees with Pinocchio.

    Args:
        candidate: a ``Dynamics``, or a Function or callable (q, v, a) → tau.
        model: the ``pin.Model`` to compare with; a ``FlexibleArm`` does without.
        options: those of :func:`~gdalembert.validation.validate.validate`.

    Returns:
        The report, of which every check is ok.

    Raises:
        ValidationError: (an AssertionError) if a check is not.
    """
    __tracebackhide__ = True
    report = validate(candidate, model, **options)
    report.raise_for_failure()
    return report
