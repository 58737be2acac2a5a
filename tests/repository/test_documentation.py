"""What README and the pages in docs say: their code runs, and their numbers are those that are measured."""

from __future__ import annotations

import ast
import builtins
import re
import runpy
import subprocess
import sys
import tomllib
import warnings
from importlib import metadata
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pytest
from _pytest.mark import ParameterSet

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics.dynamics import REGISTRY, formulations
from gdalembert.export import FORMATS
from tests.helpers.models import build, relative_error, states
from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

DOCS = ROOT / "docs"
EXECUTE = script(DOCS / "execute.py")
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "api").glob("*.md"))]
SITE = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md"), ROOT / "urdf/README.md"]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[str]:
    return [block.code for block in EXECUTE.blocks(page.read_text(encoding="utf-8"))]


LONG = {
    "README.md",
    "docs/index.md",
    "docs/calibration.md",
    "docs/forces.md",
    "docs/frames_and_wrenches.md",
    "docs/simplified_models.md",
    "docs/cookbook.md",
    "docs/tutorial.md",
    "docs/troubleshooting.md",
    "docs/simulation.md",
    "docs/constraints.md",
    "docs/distances.md",
    "docs/cheat_sheet.md",
    "docs/optimal_control.md",
    "docs/receding_horizon.md",
    "docs/solvers.md",
    "docs/contacts_in_time.md",
    "docs/flexible_plans.md",
    "docs/codesign.md",
    "docs/ocp_hints.md",
    "docs/flexible_ocp.md",
    "docs/flexible.md",
    "docs/parameters.md",
    "docs/rotors.md",
    "docs/identification.md",
    "docs/log_to_model.md",
    "docs/from_pinocchio_casadi.md",
}
EXTRAS = {
    "docs/constraints.md",
    "docs/cookbook.md",
    "docs/solvers.md",
    "docs/parameter_sweeps.md",
    "docs/gallery.md",
    "docs/viewer.md",
    "docs/identification.md",
    "docs/log_to_model.md",
    "docs/learning.md",
    "docs/tutorial.md",
}
SYSTEM = {
    "README.md",
    "docs/index.md",
    "docs/cheat_sheet.md",
    "docs/compiled_functions.md",
    "docs/contacts_in_time.md",
    "docs/estimation.md",
    "docs/learning.md",
    "docs/mpc.md",
}
IN_A_CHILD = {"docs/learning.md"}
"""JAX leaves a callback of the garbage collector in the process, in which tests of signals may run next."""


def with_its_mark(page: Path) -> ParameterSet:
    """A page whose blocks take long, or need an extra, or a compiler."""
    sets = {"long": LONG, "extras": EXTRAS, "system": SYSTEM}
    return pytest.param(
        page, marks=[getattr(pytest.mark, name) for name, pages in sets.items() if named(page) in pages]
    )


def checked_in_a_child(page: Path) -> list[str]:
    command = [sys.executable, str(DOCS / "execute.py"), "--check", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


@pytest.mark.parametrize("page", [with_its_mark(page) for page in EXECUTE.pages()], ids=named)
def test_a_page_shows_what_its_blocks_give(page: Path) -> None:
    """They run in order; each output and each figure is on the page."""
    registered, formats = formulations(), dict(FORMATS)
    try:
        wrong = checked_in_a_child(page) if named(page) in IN_A_CHILD else EXECUTE.execute(page, check=True)
        assert wrong == []
    finally:
        REGISTRY.clear()
        REGISTRY.update(registered)
        for name in FORMATS.keys() - formats:
            del FORMATS[name]


@pytest.mark.parametrize("page", EXECUTE.pages(), ids=named)
def test_code_fits_the_column(page: Path) -> None:
    """Of the site, which has 90 characters in the size that its theme gives to code; and ruff's default."""
    fences = "python|sh" if page.parent == DOCS else "python"  # README's commands are one line each
    blocks = re.findall(rf"^```(?:{fences})\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert [line for block in blocks for line in block.splitlines() if len(line) > 88] == []


@pytest.mark.parametrize("page", SITE, ids=named)
def test_python_stands_in_blocks_that_run(page: Path) -> None:
    """No directive of Sphinx shows code that nothing runs; every fence of a page is of a kind that is known."""
    text = page.read_text(encoding="utf-8")
    assert "code-block" not in text
    fences = re.findall(r"^ *(?:```|~~~)+(\S.*)$", text, flags=re.MULTILINE)
    known = {"python", "text", "sh", "math", "{toctree}", "{eval-rst}"}
    assert [fence for fence in fences if fence not in known and not fence.startswith("{literalinclude} ../src/")] == []


@pytest.mark.parametrize("page", SITE, ids=named)
def test_prose_is_at_most_120_wide(page: Path) -> None:
    """Code, equations (indented), tables and pictures apart."""
    prose = re.sub(r"^ *(```|~~~).*?^ *\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "    ", "!["))]
    assert [line for line in lines if len(line) > 120] == []


def entries_of_toctrees() -> list[Path]:
    entries = []
    for page in SITE:
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            names = [re.sub(r"^.*<(.*)>$", r"\1", line) for line in lines]
            entries += [file.resolve() for name in names for file in page.parent.glob(f"{name}.md")]
    return entries


def test_equations_of_the_site_need_no_network() -> None:
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert re.search(r'^extensions .*"sphinx-mathjax-offline"', conf, re.MULTILINE)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert any(each.startswith("sphinx-mathjax-offline") for each in extras["docs"])


def test_the_first_page_shows_a_picture() -> None:
    head = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert re.search(r"!\[.+\]\(images/\w+\.(?:png|webp)\)", head)


def test_every_page_is_in_one_toctree() -> None:
    assert sorted(entries_of_toctrees()) == sorted(page for page in SITE if page != DOCS / "index.md")


@pytest.mark.parametrize("page", SITE, ids=named)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    """From where the page stands in the repository: the site has the same folders."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.is_file() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def anchors(page: Path) -> list[str]:
    """Of the headings, as GitHub and the site make them."""
    headings = re.findall(r"^#{1,3} (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_files_that_documents_name_are_there() -> None:
    files = {
        path.as_posix() for folder in ("src", "tests", "docs", "examples") for path in (ROOT / folder).rglob("*.py")
    }
    named_files = {
        name
        for page in [ROOT / "CONTRIBUTING.md", *PAGES]
        for name in re.findall(r"`((?:[a-z_]+/)*[a-z_0-9]+\.py)`", page.read_text(encoding="utf-8"))
    }
    assert {name for name in named_files if not any(file.endswith(f"/{name}") for file in files)} == set()


def test_every_public_name_is_in_the_reference() -> None:
    reference = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    listed = set(re.findall(r"^\.\. auto\w+:: (\S+)$", reference, flags=re.MULTILINE))
    public = set(gd.__all__)
    modules = {name for name in public if isinstance(getattr(gd, name), ModuleType)}
    missing = [name for name in public - modules if f"gdalembert.{name}" not in listed]
    missing += [name for name in modules if getattr(gd, name).__name__ not in listed]
    assert missing == []
    initial = (ROOT / "src/gdalembert").glob("*/__init__.py")
    packages = [path.parent.name for path in initial if "__all__" in path.read_text(encoding="utf-8")]
    assert [name for name in packages if f"gdalembert.{name}" not in listed] == []


@pytest.mark.long
def test_the_own_formulation_in_the_docs_is_right() -> None:
    namespace: dict[str, object] = {}
    registered = formulations()
    try:
        for block in python_blocks(DOCS / "extending.md"):
            exec(block, namespace)
    finally:
        REGISTRY.clear()
        REGISTRY.update(registered)
    model = gd.load_urdf("puma560")
    for options in ({}, {"parameters": ["inertia", "gravity"]}):
        gd.validate(namespace["Kane"](model, **options), against=model, samples=20).raise_for_failure()
    flying = build(np.random.default_rng(0), ["RUBX", "SphericalZYX", "PX"], [0, 1, 2])
    tau, (q, v, a) = namespace["Kane"](flying).inverse_dynamics, states(flying, np.random.default_rng(1), 1)[0]
    assert relative_error(tau(q, v, a).full().ravel(), pin.rnea(flying, flying.createData(), q, v, a)) < 1e-12


def lines_of(code: str) -> int:
    return len([line for line in code.splitlines() if line.strip()])


def test_the_five_line_starts_have_five_lines() -> None:
    assert lines_of(python_blocks(ROOT / "README.md")[0]) == 5
    assert [lines_of(block) for block in python_blocks(DOCS / "index.md")] == [5, 9, 4, 1, 4, 4]


@pytest.mark.extras
@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize("path", ["ur_description/urdf/ur5_robot.urdf", "kinova_description/robots/kinova.urdf"])
def test_the_first_mpc_asks_for_another_path_alone(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In at most 25 lines, with a robot that is not shipped; that of Kinova has continuous joints."""
    share = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    code = python_blocks(DOCS / "mpc.md")[0]
    assert lines_of(code) <= 25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gd.errors.UrdfWarning)
        exec(code.replace("panda7", f"{share}/{path}"), {})
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Real_Time_Iteration, True: 0.0 mm off"


def test_each_of_the_thirty_answers_stands_alone() -> None:
    """Beside the first block of the page; a reader takes one of them."""
    page = DOCS / "cookbook.md"
    first, *answers = python_blocks(page)
    given = names(first, ast.Store) | set(dir(builtins))
    assert len(re.findall("^## ", page.read_text(encoding="utf-8"), re.MULTILINE)) == len(answers) == 30
    assert [needed for each in answers if (needed := names(each, ast.Load) - names(each, ast.Store) - given)] == []
    assert max(map(lines_of, answers)) <= 16


def names(code: str, context: type[ast.expr_context]) -> set[str]:
    """The names that a code reads, or those that it binds."""
    tree = list(ast.walk(ast.parse(code)))
    found = {node.id for node in tree if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        found |= {node.name for node in tree if isinstance(node, ast.FunctionDef)}
        found |= {node.arg for node in tree if isinstance(node, ast.arg)}
        found |= {(node.asname or node.name).partition(".")[0] for node in tree if isinstance(node, ast.alias)}
    return found


def test_the_formulation_in_30_lines_has_no_more() -> None:
    code = python_blocks(DOCS / "extending.md")[0]
    assert lines_of(code[code.index("class ") : code.index("\n\n\nmodel")]) <= 30


@pytest.mark.long
def test_the_cost_table_is_measured() -> None:
    page = (DOCS / "which_formulation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*?\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    printed = {name: [int(x) for x in counts] for name, *counts in rows}
    models = [robots.load(name) for name in ("puma560_benchmark", "panda7", "talos")]
    measured = {}
    for cls in (gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler):
        dynamics = [cls(model) for model in models]
        measured[cls.__name__] = [
            graph.n_instructions() for dyn in dynamics for graph in (dyn.inverse_dynamics, dyn.mass_matrix)
        ]
    assert printed == measured


@pytest.mark.long
def test_the_recorded_sizes_are_measured() -> None:
    """benchmarks/results/sizes.md, for the two robots that need nothing but this package."""
    from benchmarks.graph_size import sizes

    recorded = (robots.HERE / "results" / "sizes.md").read_text(encoding="utf-8")
    for name in ("puma560_benchmark", "panda7"):
        section = sizes.table([name]).split("## ", 1)[1]
        assert section.strip() in recorded


def test_every_shipped_robot_has_its_row() -> None:
    """In the table of urdf/README.md; README names it."""
    readme, table = (path.read_text(encoding="utf-8") for path in (ROOT / "README.md", ROOT / "urdf" / "README.md"))
    assert [name for name in gd.robots() if f"| `{name}` |" not in table or f"`{name}`" not in readme] == []


def test_every_result_has_its_command() -> None:
    """In the table of benchmarks/README.md, beside the page with text of its own; every command is a module."""
    table = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*`python -m ([\w.]+)`.*\]\((\S+\.md)\) \|$", table, re.MULTILINE)
    pages = [f"results/{page.name}" for page in (ROOT / "benchmarks" / "results").glob("*.md")]
    assert sorted({page for _, page in rows}) == sorted([*pages, "../docs/published_results.md"])
    modules = [module for module, _ in rows]
    assert [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").is_file()] == []


def words_of(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def test_readme_is_short() -> None:
    assert words_of(ROOT / "README.md") <= 1200


def test_pages_of_optimal_control_are_short() -> None:
    """Those that stand under "Control" in the sidebar."""
    first = DOCS / "optimal_control.md"
    tree = first.read_text(encoding="utf-8").partition("```{toctree}\n:hidden:\n\n")[2].partition("```")[0]
    pages = [first, *(DOCS / f"{name}.md" for name in tree.split())]
    assert len(pages) > 5
    assert {named(page): words_of(page) for page in pages if words_of(page) > 2500} == {}


@pytest.mark.parametrize(("name", "size"), [("CHANGELOG.md", 20_000), ("CONTRIBUTING.md", 7_000)])
def test_what_grows_with_each_change_stays_short(name: str, size: int) -> None:
    """In bytes: git has each change, `docs/developing.md` the rest of the rules."""
    assert (ROOT / name).stat().st_size <= size


def test_readme_has_exactly_two_set_up_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^<!-- setup: (\w+) -->\n```sh\n([^\n]*)\n```$", readme, re.MULTILINE)
    assert [name for name, _ in commands] == ["run", "test"]
    assert all("python3 -m venv" in command for _, command in commands)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_rows_of_results_are_rows_of_results(page: Path) -> None:
    """Under "rows of FILE": the numbers of each row begin one of the file."""
    text = page.read_text(encoding="utf-8")
    for source, table in re.findall(r"<!-- rows of (\S+) -->\n((?:\|.*\n)+)", text):
        recorded = [cells(line)[1:] for line in (ROOT / source).read_text(encoding="utf-8").splitlines() if "|" in line]
        for row in table.splitlines()[2:]:
            numbers = cells(row)[1:]
            assert any(known[: len(numbers)] == numbers for known in recorded), row


@pytest.mark.extras
@pytest.mark.parametrize("name", ["draw_frames", "draw_recursion"])
def test_pictures_are_drawn(name: str, tmp_path: Path) -> None:
    """By a script, in the size of the one that is there."""
    script = runpy.run_path(str(DOCS / f"{name}.py"))
    script["main"]([str(tmp_path / "drawn.png")])
    drawn, there = (file.read_bytes() for file in (tmp_path / "drawn.png", script["FILE"]))
    header = slice(0, 24)  # signature, width, height
    assert drawn[header] == there[header]
