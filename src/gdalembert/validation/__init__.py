"""Comparison of a system under test with a reference, in the order in which :func:`~validate.validate` works.

1. ``states``: random states, and M, velocity terms and gravity from tau alone. ``references``: Pinocchio's values
   there, and those of a second computation for flexible arms.
2. ``systems``, ``dynamics``, ``flexible_arm``: what can be tested, one class each. They make the residuals.
3. ``diagnosis``: writes the sentences about failed checks, with ``differences`` (what numbers have in common).
4. ``report``: judges each residual by its tolerance and keeps the worst; checks and sentences, as a table or as JSON.
"""
