"""A format is one function that registers itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import casadi as ca
import pytest

from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.export import FORMATS, derive
from gdalembert.export.closed import ClosedForms
from gdalembert.export.formats import closed_format, closed_formats, code_format, code_formats
from tests.helpers.exports import pruned


@pytest.fixture
def two_formats() -> Iterator[None]:
    """``listing`` for code, ``sizes`` for closed forms."""

    @code_format("listing")
    def listing(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> dict[str, str]:
        return {f"{name}.txt": "\n".join([" ".join(notes), *functions])}

    @closed_format("sizes")
    def sizes(forms: ClosedForms) -> dict[str, str]:
        return {f"{forms.name}.txt": " ".join(f"{own} {matrix.shape}" for own, matrix in forms.matrices.items())}

    yield
    del FORMATS["listing"], FORMATS["sizes"]


def test_the_formats_of_the_package() -> None:
    assert list(FORMATS)[:5] == ["latex", "sympy", "python", "c", "matlab"]
    assert [each.name for each in FORMATS.values()] == list(FORMATS)
    for closed, listed in ((True, closed_formats()), (False, code_formats())):
        assert listed.replace(" or ", ", ").split(", ") == [name for name in FORMATS if FORMATS[name].closed is closed]


@pytest.mark.usefixtures("two_formats")
def test_code_gets_functions_and_the_head_of_a_file() -> None:
    ((name, text),) = derive("two_link_arm", "listing", terms=["nle", "mass_matrix"]).items()
    head, *functions = text.splitlines()
    assert name == "two_link_arm.txt"
    assert functions == ["nle", "mass_matrix"]
    assert "recursive Newton-Euler equations" in head


@pytest.mark.usefixtures("two_formats")
def test_closed_forms_are_matrices() -> None:
    assert derive("two_link_arm", "sizes", terms=["G", "D_tra"]) == {"two_link_arm.txt": "G (2, 1) D_tra (2, 2)"}


@pytest.mark.usefixtures("two_formats")
def test_messages_name_what_is_registered() -> None:
    with pytest.raises(UnsupportedError, match=r"choose python, c, matlab(, .+)? or listing"):
        derive(pruned(), "sizes")
    with pytest.raises(ArgumentError, match="only latex has a preamble, and sizes has none; leave it out"):
        derive("two_link_arm", "sizes", body_only=True)
