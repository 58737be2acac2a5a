"""The size of the derivatives of forward dynamics of an arm."""

from __future__ import annotations

import pytest

from benchmarks.flexible import sizes

pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")


@pytest.mark.long
def test_size() -> None:
    """Of a row of four links with four modes each; by M it takes some 60 % more."""
    arm = sizes.arm(4, foreshortening=True)
    assert arm.forward_dynamics_derivatives.n_instructions() <= 47500
