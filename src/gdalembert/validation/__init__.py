"""Comparison of a system under test with a reference, in the order in which :func:`~validate.validate` works.

1. ``states``: random states. ``references``: Pinocchio's values there; ``reference_recursion``: those of a second
   computation for flexible arms; ``torque_terms``: M, velocity terms and gravity from tau alone.
2. ``systems``, ``dynamics``, ``flexible_arm`` with ``undeformed_arm``: what can be tested, one class each. They make
   the residuals.
3. ``residuals``: judges each residual by its tolerance and keeps the worst.
4. ``diagnosis``: writes the sentences about failed checks, with ``differences`` (what numbers have in common) and
   ``wording``.
5. ``report``: checks and sentences, as a table or as JSON.
"""
