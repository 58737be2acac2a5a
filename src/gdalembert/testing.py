"""One line for test suites: a formulation agrees with Pinocchio."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from gdalembert.validation.report import Report
from gdalembert.validation.validate import System, validate


def assert_valid(system: System, model: pin.Model | None = None, **options: Any) -> Report:
    """Fail a test, showing the table of the report, unless the system under test agrees with Pinocchio.

    Args:
        system: the system under test: a ``Dynamics``, or a Function or callable (q, v, a) → tau.
        model: the ``pin.Model`` to compare with; a ``FlexibleArm`` can do without.
        options: those of :func:`~gdalembert.validation.validate.validate`.

    Returns:
        The report; every check in it is ok.

    Raises:
        ValidationError: (an AssertionError) if a check is not.
    """
    __tracebackhide__ = True
    report = validate(system, model, **options)
    report.raise_for_failure()
    return report
