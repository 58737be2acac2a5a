"""What is derived, and the files that it is written to."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.export import FORMATS, derive, write
from gdalembert.export.formats import formats_of
from gdalembert.symbolic import closed_forms
from tests.helpers.exports import executed, pruned
from tests.helpers.paths import ROOT

FILES = {"one.txt": "1\n", "two.txt": "2\n", "three.txt": "3\n"}


def test_names_of_joints_harm_no_file() -> None:
    model = gd.load_urdf("two_link_arm")
    model.name, model.names[1], model.names[2] = 'é"""\\*/ 1', "*/ \n }", '"""\\'
    (source,) = derive(model, "python").values()
    executed(source)
    c = derive(model, "c")
    assert list(c) == ["robot_1.c", "robot_1.h"]
    assert all(text.isascii() for text in c.values())
    assert c["robot_1.h"].count("*/") == 1 + 4
    (latex,) = derive(model, "latex", formulation="lagrange_euler").values()
    assert r"\_/ \_ \}" in latex


# What is asked for


@pytest.mark.long
def test_formats_take_the_same_names() -> None:
    for to in FORMATS:
        files = derive("puma560_3", to, formulation="lagrange_euler", terms=["h", "mass_matrix"])
        text = "".join(files.values())
        names = ("h_1", "h_3") if FORMATS[to].closed else ("h_1", "h_2", "h_3", "mass_matrix")
        assert all(name in text or f"{name[0]}_{{{name[2:]}" in text for name in names)


def test_long_derivations_speak(capfd: pytest.CaptureFixture[str]) -> None:
    """With the same text; a line in a log, and nothing unless it is asked for."""
    for to in ("latex", "c"):
        silent = derive("two_link_arm", to)
        assert capfd.readouterr().err == ""
        assert derive("two_link_arm", to, progress=True) == silent
        assert re.fullmatch(rf"two_link_arm: derive {to}, [\d.]+ s\n", capfd.readouterr().err)
    closed_forms("two_link_arm", of="mass_matrix", progress=True)
    assert capfd.readouterr().err.startswith("two_link_arm: closed form of mass_matrix, ")
    with pytest.raises(ArgumentTypeError, match=r"^derive: progress is 1; give True or False$"):
        derive("two_link_arm", "c", progress=1)  # type: ignore[arg-type]


def test_terms_are_functions_of_what_they_depend_on() -> None:
    (source,) = derive("puma560_3", "python", formulation="generalized_dalembert", terms="terms").values()
    heads = re.findall(r"^def (.*):$", source, re.MULTILINE)
    assert heads == ["D_tra(q)", "D_rot(q)", "H_tra(q, v)", "H_rot(q, v)", "G(q)", "I_act()"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"to": "latx"}, UnknownNameError, "no format named 'latx'; nearest: 'latex'"),
        ({"terms": "D_tar"}, UnknownNameError, "no term of generalized_dalembert named 'D_tar'; nearest: 'D_tra'"),
        ({"terms": "massmatrix"}, UnknownNameError, "nearest: 'mass_matrix'"),
        ({"terms": "forward_dynamics"}, UnknownNameError, "no term of generalized_dalembert named 'forward_dynamics'"),
        ({"terms": []}, ArgumentError, "terms: none are given; name at least one, as 'mass_matrix'"),
        ({"formulation": "newton"}, UnknownNameError, "no formulation named 'newton'; nearest: 'newton_euler'"),
        ({"terms": 3}, ArgumentTypeError, "terms=3: give names, as ['mass_matrix']"),
        ({"terms": [3]}, ArgumentTypeError, "terms=[3]: give names, as ['mass_matrix']"),
        (
            {"terms": "D_tra", "formulation": "lagrange_euler"},
            UnknownNameError,
            "no term of lagrange_euler (generalized_dalembert has it) named 'D_tra'",
        ),
        (
            {"terms": ["D_tra", "D"]},
            UnknownNameError,
            "no term of generalized_dalembert (lagrange_euler has it) named 'D'",
        ),
        ({"to": "c", "body_only": True}, ArgumentError, "only latex has a preamble, and c has none; leave it out"),
        ({"formulation": 3}, ArgumentTypeError, "formulation=3: give a name or a class"),
    ],
)
def test_what_is_not_there(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive("puma560_3", **({"to": "latex"} | options))


@pytest.mark.parametrize(
    ("to", "terms", "formulation"),
    [
        ("latex", "D,h,c", "lagrange_euler"),
        ("sympy", "D_tra,mass_matrix", "generalized_dalembert"),
        ("c", "D_tra,mass_matrix", "generalized_dalembert"),
        ("python", "D", "lagrange_euler"),
        ("python", "mass_matrix", "newton_euler"),
    ],
)
def test_the_formulation_that_has_the_terms_is_taken(to: str, terms: str, formulation: str) -> None:
    names = iter(terms.split(","))
    found = derive("two_link_arm", to, terms=names)
    assert found == derive("two_link_arm", to, terms=terms.split(","), formulation=formulation)


# Any Dynamics


@pytest.mark.parametrize(
    ("to", "options", "error", "message"),
    [
        ("latex", {}, UnsupportedError, f"is exported as code alone; choose {formats_of(closed=False)}"),
        ("sympy", {}, UnsupportedError, "PrunedDynamics('puma560', nq=6, nv=6): is exported as code alone"),
        ("c", {"symbolic": True}, ArgumentError, "give no formulation, no symbolic"),
        ("c", {"formulation": "newton_euler"}, ArgumentError, "give no formulation, no symbolic"),
        ("c", {"terms": "D_tra"}, UnknownNameError, "no term of PrunedDynamics named 'D_tra'"),
    ],
)
def test_what_a_dynamics_has_not(to: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive(pruned(), to, **options)


@pytest.mark.long
def test_too_large_for_closed_forms() -> None:
    with pytest.raises(UnsupportedError, match=r"too large for closed forms: its \d+ instructions in \d+ symbols"):
        derive("panda7", "latex", max_terms=100_000)
    with pytest.raises(UnsupportedError, match=r"puma560: too large to be written: its \d+ terms, 100 to be counted"):
        derive("puma560", "sympy", max_terms=600_000)


def contents(folder: Path) -> dict[str, str]:
    return {str(x.relative_to(folder)): x.read_text() for x in folder.rglob("*") if x.is_file()}


def test_files_are_written(tmp_path: Path) -> None:
    paths = write(FILES, tmp_path / "a" / "b")
    assert paths == [tmp_path / "a" / "b" / name for name in FILES]
    assert contents(tmp_path) == {f"a/b/{name}": text for name, text in FILES.items()}
    write({"x.tex": "é"}, tmp_path / "named.tex")
    assert (tmp_path / "named.tex").read_bytes() == "é".encode()
    write({"x.tex": "x"}, tmp_path / "a")
    write({"x.tex": "x"}, f"{tmp_path}/new/")
    assert (tmp_path / "a" / "x.tex").read_text() == (tmp_path / "new" / "x.tex").read_text() == "x"


def test_files_are_not_replaced_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("mine")
    with pytest.raises(ArgumentError, match=r"two\.txt: is there already; choose another output, or replace it"):
        write(FILES, tmp_path)
    assert contents(tmp_path) == {"two.txt": "mine"}
    write(FILES, tmp_path, force=True)
    assert contents(tmp_path) == FILES
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(ArgumentError, match="is there already"):
        write({"folder.txt": ""}, f"{tmp_path}/", force=True)


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match=r"file.*: cannot be written: .*; choose another output"):
        write(FILES, tmp_path / "file" / "inner")
    with pytest.raises(ArgumentError, match=r"aaa/one.txt: cannot be written: .*; choose another output"):
        write(FILES, tmp_path / ("a" * 300))
    assert contents(tmp_path) == {"file": ""}


@pytest.mark.parametrize(
    ("output", "error", "message"),
    [
        (3, ArgumentTypeError, "output (--output): got 3; give a file or a folder, '.' for the one you are in"),
        ("", ArgumentError, "output (--output): got '', which no file can be called; give a file or a folder"),
        ("new/one.txt", ArgumentError, "one.txt: is a file name, and there are 3 files; give a folder"),
    ],
)
def test_outputs_that_are_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Any, error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=re.escape(message)):
        write(FILES, output)
    assert list(tmp_path.iterdir()) == []


Interrupt = Callable[[int], None]


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Interrupt:
    """Ctrl-C right after the k-th step of writing."""

    def after(k: int) -> None:
        steps = itertools.count(1)

        def stopping(step: Callable[..., Any]) -> Callable[..., Any]:
            def stepped(*args: Any, **kwargs: Any) -> Any:
                result = step(*args, **kwargs)
                if next(steps) == k:
                    raise KeyboardInterrupt
                return result

            return stepped

        for owner, name in ((os, "replace"), (shutil, "copy2"), (Path, "write_text"), (Path, "mkdir")):
            monkeypatch.setattr(owner, name, stopping(getattr(owner, name)))

    return after


@pytest.mark.parametrize("k", [1, 3, 5, 6, 7])
def test_an_interruption_leaves_nothing(tmp_path: Path, interrupt: Interrupt, k: int) -> None:
    interrupt(k)
    with pytest.raises(KeyboardInterrupt):
        write(FILES, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("k", [4, 5, 6, 7, 8, 9])
def test_an_interruption_brings_back_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupt: Interrupt, k: int
) -> None:
    before = {"one.txt": "mine", "three.txt": "mine too"}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    interrupt(k)
    with pytest.raises(KeyboardInterrupt):
        write(FILES, tmp_path, force=True)
    monkeypatch.undo()
    assert contents(tmp_path) == before
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted(before)


@pytest.mark.parametrize("to", ["python", "latex"])
def test_frames_of_a_robot_without_inertia_are_written(to: str) -> None:
    """Its dynamics are refused, its kinematics need none."""
    text = re.sub(r"<inertial>.*?</inertial>", "", (ROOT / "urdf" / "two_link_arm.urdf").read_text("utf-8"), flags=re.S)
    with_inertia = derive("two_link_arm", to, terms=["frame_placement:tip"], symbolic=False)
    without = derive(gd.load_urdf(text, check="off"), to, terms=["frame_placement:tip"], symbolic=False)
    assert list(without.values()) == list(with_inertia.values())
    with pytest.raises(gd.errors.ModelError, match="no inertia"):
        derive(gd.load_urdf(text, check="off"), to, terms=["M"])
