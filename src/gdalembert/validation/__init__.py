"""Comparison of a system under test with a reference, in the order in which :func:`~validate.validate` works.

1. ``references``: random ``states``, Pinocchio's tau and its terms there, and a second computation for flexible arms.
2. ``systems``: what is tested, all its Functions built and checked in one place.
3. ``comparison``: each quantity beside that of the reference, and the laws.
4. ``diagnosis``: writes the sentences about failed checks, from what two sets of numbers have in common.
5. ``report``: judges each residual by its tolerance; checks and sentences, as a table or as JSON.
"""
