"""``gdalembert report``: one page of HTML about any URDF."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.cli.main import main
from gdalembert.cli.report import figures
from gdalembert.cli.report.command import speed_fact
from gdalembert.cli.report.motion import gaps
from gdalembert.cli.report.robot import says
from gdalembert.cli.report.subject import Subject
from tests.helpers.models import build

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = [
    "What the URDF says",
    "Validation against Pinocchio",
    "Graph sizes and speed",
    "Torques of a swing",
    "Reachable points",
    "Gaps between links",
    "Base parameters",
    "Closed forms",
]
UNLIMITED = """<robot name="boom"><link name="base"/><link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="tip"/>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="1 0 0"/></joint></robot>"""


class Page(HTMLParser):
    """The elements of a page, each closed as it should be, and what they load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        own = dict(attributes)
        if tag not in ("meta", "link", "path", "rect", "br"):
            self.open.append(tag)
        self.ids |= {own["id"] or ""} if tag == "section" else set()
        if tag == "a":
            self.links.add(own["href"] or "")
        else:
            self.loaded += [own[name] or "" for name in ("src", "href") if name in own]

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in ("path", "rect", "use", "image", "g") or tag.startswith("m")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def report(path: Path, *arguments: str) -> str:
    assert main(["report", *arguments, "--output", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def outside(text: str) -> str:
    """The page without its scene."""
    return re.sub(r'srcdoc="[^"]*"', "", text)


def lines_of_python(text: str) -> str:
    return "\n".join(html.unescape(code) for code in re.findall(r"<pre>(.*?)</pre>", text, re.DOTALL))


def tables_of(text: str, title: str) -> list[dict[str, list[str]]]:
    """The tables of a section: rows by their first cell."""
    section = text.partition(f"<h2>{title}</h2>")[2].partition("</section>")[0]
    tables = []
    for table in re.findall(r"<table>(.*?)</table>", section):
        rows = [re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
        texts = [[html.unescape(re.sub(r"<.*?>", "", cell)) for cell in row] for row in rows]
        tables.append({name: cells for name, *cells in texts})
    return tables


def check(text: str, scene: bool) -> None:
    found = Page(outside(text))
    assert found.loaded == ["data:,"]
    assert found.links == {f"#{each}" for each in found.ids}
    assert re.findall(r"<h2>(.*?)</h2>", text) == TITLES
    assert text.count("srcdoc=") == scene
    assert "<span class=bad>" not in text
    assert "<p class=bad>" not in text


@pytest.mark.filterwarnings("ignore::gdalembert.errors.UrdfWarning")
def test_a_report_of_a_robot_without_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler, viser and matplotlib: all sections are there, and say what is missing."""
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setitem(sys.modules, "viser", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    urdf = tmp_path / "boom & co.urdf"
    urdf.write_text(UNLIMITED)
    text = report(tmp_path / "boom.html", str(urdf))
    check(text, scene=False)
    assert "There is no scene: the 3-D view needs viser: pip install &quot;gdalembert[viewer]&quot;" in text
    missing = "There is no figure: a figure needs matplotlib: pip install &quot;gdalembert[plot]&quot;."
    assert text.count(missing) == 2
    assert "<svg" not in text
    assert "no-such-compiler" in text
    assert "boom &amp; co.urdf" in text
    assert "<math" in text
    model = gd.load_urdf(str(urdf))
    values: dict[str, object] = {}
    exec(lines_of_python(text).replace("gd.compile(", "gd.compile(interpreter=True, function="), values)
    assert len(values["base"]) == len(gd.NewtonEuler(model).base_parameters)
    q, v, a = (np.asarray(values[name]) for name in "qva")
    tau = np.array([pin.rnea(model, model.createData(), *state) for state in zip(q, v, a, strict=True)])
    assert np.abs(np.asarray(values["tau"]).T - tau).max() < 1e-12
    row = re.search(r"<tr><td class=l>hinge</td><td>([-\d.e]+)</td>", text.partition("Torques of a swing</h2>")[2])
    assert abs(float(row[1])) == pytest.approx(np.abs(tau).max(), rel=5e-3)


def test_every_velocity_of_a_joint_has_its_limits() -> None:
    model = build(np.random.default_rng(0), ["Spherical", "RX"], [0, 1])
    model.velocityLimit = np.arange(1.0, 5.0)
    page = says(Subject("robot", model, (), "", 1e-11)).html()
    _, _, limits, _ = tables_of(page, "What the URDF says")
    assert [velocity for _, _, velocity, _ in limits.values()] == ["velocity", "1", "2", "3", "4"]


BALL = '<collision><origin xyz="0 0 {}"/><geometry><sphere radius="{}"/></geometry></collision></link>'
SWINGING = """<link name="{child}"><inertial><origin xyz="0 0 0.3"/><mass value="1"/><inertia ixx="0.1" iyy="0.1"
izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>{ball}<joint name="to_{child}" type="revolute"><parent link="{parent}"/>
<child link="{child}"/><origin xyz="0 0 {z}"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="2" effort="9"/>
</joint>"""
LINKS = [
    SWINGING.format(child=x, parent=y, z=z, ball=BALL.format(0.3, 0.05))
    for x, y, z in [("arm", "base", 0), ("hand", "arm", 0.3)]
]
BALLS = f'<robot name="balls"><link name="base">{BALL.format(0, 0.1)}{"".join(LINKS)}</robot>'


def test_gaps_between_links_are_those_of_coal(tmp_path: Path) -> None:
    """To the digits that are printed."""
    path = tmp_path / "balls.urdf"
    path.write_text(BALLS)
    model = gd.load_urdf(str(path))
    subject = Subject(str(path), model, (), "", 1e-11)
    page = gaps(subject).html()
    _, rows = tables_of(page, "Gaps between links")[0].items()
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION)
    geometry.addCollisionPair(pin.CollisionPair(0, 2))
    data, apart = pin.GeometryData(geometry), []
    for q in subject.swing.q:
        pin.computeDistances(model, model.createData(), geometry, data, q)
        apart.append(data.distanceResults[0].min_distance)
    name, (other, least, when, _, _) = rows
    assert (name, other) == ("base_0", "hand_0")
    assert float(least) == pytest.approx(min(apart), rel=5e-3)
    assert float(when) == pytest.approx(subject.swing.t[int(np.argmin(apart))], rel=5e-3)
    code = lines_of_python(page).replace("motion.q", "q")
    values: dict[str, object] = {"pin": pin, "gd": gd, "model": model, "q": subject.swing.q}
    exec(code.replace("print", "printed = "), values)
    assert np.asarray(values["printed"][1]).min() == pytest.approx(min(apart), abs=1e-9)


def test_shapes_of_a_robot_without_bodies_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "boom.urdf"
    path.write_text(UNLIMITED)
    assert main(["view", str(path), "--shapes"]) == 2
    assert "--shapes: boom has no collision bodies that can be read; leave it out" in capsys.readouterr().err


@pytest.mark.long
def test_tables_are_the_numbers_of_the_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the digits that are printed."""
    monkeypatch.setenv("CC", "no-such-compiler")
    for name in ("viser", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    text = report(tmp_path / "arm.html", "two_link_arm")
    model = gd.load_urdf("two_link_arm")
    dyn, data = gd.NewtonEuler(model), model.createData()
    joints, inertias, limits, frames = tables_of(text, "What the URDF says")
    of_model = (model.lowerPositionLimit, model.upperPositionLimit, model.velocityLimit, model.effortLimit)
    for k, name in enumerate(list(model.names)[1:]):
        body = model.inertias[k + 1]
        for cells, numbers in (
            (joints[name][2:], [body.mass, model.armature[k]]),
            (limits[name], [limit[k] for limit in of_model]),
            (inertias[name], [*body.lever, *body.inertia[np.triu_indices(3)][[0, 1, 3, 2, 4, 5]]]),
        ):
            assert [float(cell) for cell in cells] == pytest.approx(numbers, rel=1e-5, abs=1e-12)
    assert list(frames)[1:] == [frame.name for frame in model.frames]
    (sizes,) = tables_of(text, "Graph sizes and speed")
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics_derivatives"):
        assert sizes[name][0] == str(getattr(dyn, name).n_instructions())
        assert sizes[name][4:] == ["–", "–"]
    (base,) = tables_of(text, "Base parameters")
    printed = [float(base[label][0]) for label in dyn.base_parameters.labels]
    assert printed == pytest.approx(dyn.base_parameters.of(model), rel=1e-3, abs=1e-12)
    values: dict[str, object] = {}
    exec(lines_of_python(text).replace("gd.compile(", "gd.compile(interpreter=True, function="), values)
    q, v, a = (np.asarray(values[name]) for name in "qva")
    (peaks,) = tables_of(text, "Torques of a swing")
    for k, name in enumerate(list(model.names)[1:]):
        tau = [pin.rnea(model, data, *state)[k] for state in zip(q, v, a, strict=True)]
        at = int(np.argmax(np.abs(tau)))
        gravity = pin.computeGeneralizedGravity(model, data, q[at])[k]
        velocity = pin.nonLinearEffects(model, data, q[at], v[at])[k] - gravity
        inertia = tau[at] - velocity - gravity
        assert [float(x) for x in peaks[name][:4]] == pytest.approx([tau[at], inertia, velocity, gravity], rel=5e-3)
        assert peaks[name][6] == f"{100 * abs(tau[at]) / model.effortLimit[k]:.0f} %"
    (points,) = tables_of(text, "Reachable points")
    nearest, farthest = map(float, points["tip"][1:3])
    assert nearest == pytest.approx(0.5 - 0.4, abs=0.01)  # links of 0.5 m and 0.4 m, at random configurations
    assert farthest == pytest.approx(0.5 + 0.4, abs=0.01)


def test_what_a_report_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["two_link_arm", "--output", "x.pdf"], "--output x.pdf: a report is a page; give a name that ends in .html"),
        (["two_link_arm", "-o", "reprots/x.html"], "--output reprots/x.html: there is no folder reprots;"),
    ):
        assert main(["report", *arguments]) == 2
        assert message in capsys.readouterr().err


def test_speed_is_that_of_a_call_first() -> None:
    number, words = speed_fact(1.3071, 73.74)
    assert number == "1.31 ×"
    assert words.startswith("as fast as pin.rnea, a call beside a call")
    assert words.endswith("a state in a batch 73.7 × as fast as a call of pin.rnea")


T = np.linspace(0.0, 2.0, 21)
SINE, STILL = np.sin(T), np.zeros(21)


@pytest.mark.extras
def test_lines_are_the_data() -> None:
    """Each panel has its title and its lines in order, the first one black; a flat line is drawn too."""
    panels = {f"joint{k} [N m]": {"torque": k * SINE, "gravity g": STILL + k} for k in range(1, 5)}
    figure = figures.line_panels(T, panels)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title(loc="left") for ax in shown] == list(panels)
    for ax, lines in zip(shown, panels.values(), strict=True):
        zero, *curves = ax.lines
        assert list(zero.get_ydata()) == [0, 0]
        assert [curve.get_label() for curve in curves] == ["torque", "gravity g"]
        for curve, values in zip(curves, lines.values(), strict=True):
            np.testing.assert_array_equal(curve.get_xdata(), T)
            np.testing.assert_array_equal(curve.get_ydata(), values)
        assert curves[0].get_color() == "#222222"
        low, high = ax.get_ylim()
        assert low < 0 < max(map(np.max, lines.values())) < high
    assert [text.get_text() for text in figure.legends[0].texts] == ["torque", "gravity g"]
    assert "nan" not in figures.drawn(figures.line_panels, T, {"still": {"torque": STILL}}).lower()


@pytest.mark.extras
def test_points_are_the_data_to_one_scale() -> None:
    points = {"tool": np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, -2.0]]), "hand": np.array([[0.0, 4.0, 0.5]])}
    figure = figures.point_views(points)
    for ax, (i, j) in zip(figure.axes, ((0, 2), (0, 1)), strict=True):
        *clouds, cross = ax.lines
        for cloud, positions in zip(clouds, points.values(), strict=True):
            np.testing.assert_array_equal(cloud.get_xydata(), positions[:, [i, j]])
        np.testing.assert_array_equal(cross.get_xydata(), [[0, 0]])
        for low, high in (ax.get_xlim(), ax.get_ylim()):
            assert high - low == pytest.approx(1.08 * 5)
        assert all(ax.get_xlim()[0] < x < ax.get_xlim()[1] for x in ax.dataLim.intervalx)
        assert all(ax.get_ylim()[0] < y < ax.get_ylim()[1] for y in ax.dataLim.intervaly)
    assert [text.get_text() for text in figure.legends[0].texts] == ["tool", "hand"]
    assert not figures.point_views({"tool": points["tool"]}).legends


@pytest.mark.extras
def test_bars_are_the_data() -> None:
    rows = {"nle": {"pin": 3.21, "a call": 0.5}, "forward_dynamics": {"pin": 12.0, "a call": 4.0}}
    figure = figures.bars(rows, "µs")
    (ax,) = figure.axes
    assert [bar.get_width() for bar in ax.patches] == [3.21, 0.5, 12.0, 4.0]
    centres = [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    assert centres == sorted(centres)
    assert ax.yaxis_inverted()  # the first on top
    assert list(ax.get_yticks()) == pytest.approx([np.mean(centres[:2]), np.mean(centres[2:])])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(rows)
    svg = figures.drawn(figures.bars, rows, "µs")
    assert [x for x in re.findall(r">([^<>]*)</text>", svg) if "µs" in x] == [
        "3.21 µs  pin",
        "0.5 µs  a call",
        "12 µs  pin",
        "4 µs  a call",
    ]


@pytest.mark.extras
def test_names_are_drawn_as_they_are() -> None:
    """Neither formulas nor marks; letters that matplotlib's font lacks are no warning."""
    names = [r"$\frac$ & <b>", "关节", "_tip", 25 * "long"]
    svg = figures.drawn(figures.line_panels, T, {name: {"torque": SINE} for name in names})
    svg += figures.drawn(figures.point_views, dict.fromkeys(names, np.eye(3)))
    for name in names:
        assert svg.count(f">{html.escape(name, quote=False)}</text>") == 2


@pytest.mark.extras
def test_a_page_has_its_figures_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The torques of the figure are those of the robot at the times of the swing; texts are texts, ids are unique."""
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setitem(sys.modules, "viser", None)
    drawn: dict[str, tuple[object, ...]] = {}
    for draw in (figures.line_panels, figures.point_views):

        def noted(*data: object, draw: Callable[..., Figure] = draw) -> Figure:
            drawn[draw.__name__] = data
            return draw(*data)

        monkeypatch.setattr(f"gdalembert.cli.report.motion.{draw.__name__}", noted)
    text = report(tmp_path / "arm.html", "two_link_arm")
    check(text, scene=False)
    assert text.count("<svg") == 2
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert ">joint1 [N m]</text>" in text
    values: dict[str, object] = {}
    exec(lines_of_python(text).replace("gd.compile(", "gd.compile(interpreter=True, function="), values)
    t, panels = drawn["line_panels"]
    np.testing.assert_allclose(t, values["motion"].t, rtol=1e-8)  # the page prints nine digits
    for k, lines in enumerate(panels.values()):
        torque, *parts = lines.values()
        np.testing.assert_allclose(torque, np.asarray(values["tau"])[k], atol=1e-6)  # of ends in nine digits
        np.testing.assert_allclose(np.sum(parts, axis=0), torque, atol=1e-12)
    ((name, positions),) = drawn["point_views"][0].items()
    row = re.search(rf"<td class=l>{name}</td><td class=l>[^<]*</td><td>[^<]*</td><td>([^<]*)</td>", text)
    assert float(row[1]) == pytest.approx(np.linalg.norm(positions, axis=1).max(), rel=5e-3)


# ---- robots of a package of robots

DATA = "cmeel.prefix/share/example-robot-data/robots"
ROBOTS = {
    "puma560": (["puma560"], 6),
    "solo12": (["solo_description/robots/solo12.urdf", "--free-flyer"], 18),
}


def arguments_of(name: str) -> list[str]:
    source, *options = ROBOTS[name][0]
    if source.endswith(".urdf"):
        source = str(distribution("example-robot-data").locate_file(f"{DATA}/{source}"))
    return [source, *options]


SCENE_IS_THERE = "Embedded data loaded!"
"""What the scene says in the browser's console."""


@pytest.mark.long
@pytest.mark.extras
@pytest.mark.system
@pytest.mark.parametrize("name", ROBOTS)
def test_reports_open_in_a_browser_without_errors(name: str, tmp_path: Path) -> None:
    """All of it, with the C compiler and the scene; chromium logs no error, though it finds no host."""
    path = tmp_path / f"{name}.html"
    text = report(path, *arguments_of(name))
    check(text, scene=True)
    assert f", nv = {ROBOTS[name][1]}; its base" in text
    log, picture = tmp_path / "log", tmp_path / "page.png"
    command = ["chromium", "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    command += ["--no-first-run", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    # a virtual clock never ends beside a scene that draws in software, in one of five runs of chromium 156
    with log.open("w") as told, subprocess.Popen([*command, "--remote-debugging-port=0"], stderr=told) as browser:
        try:
            for _ in range(1200):
                if browser.poll() is not None or SCENE_IS_THERE in log.read_text(errors="replace"):
                    break
                time.sleep(0.1)
            time.sleep(1)  # for errors of the first pictures
        finally:
            browser.terminate()
    lines = log.read_text(errors="replace").splitlines()
    assert [line for line in lines if "CONSOLE" in line and "rror" in line] == []
    assert any(SCENE_IS_THERE in line for line in lines)
    command += [f"--screenshot={picture}", "--timeout=10000"]
    subprocess.run(command, stderr=subprocess.DEVNULL, check=True, timeout=300)
    assert picture.stat().st_size > 10_000
