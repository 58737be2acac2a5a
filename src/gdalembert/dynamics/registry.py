"""Which formulations there are."""

from __future__ import annotations

from gdalembert.dynamics.dynamics import REGISTRY, Dynamics


def formulations() -> dict[str, type[Dynamics]]:
    """All formulations by name: ours, and every subclass of :class:`Dynamics` that gives itself a ``name``."""
    return dict(sorted(REGISTRY.items()))
