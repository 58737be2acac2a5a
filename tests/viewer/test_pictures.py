"""Pictures of a real browser."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from gdalembert.viewer import Viewer
from gdalembert.viewer.scene import color_of
from tests.helpers.viewer import bent, flexible, pixel, placed

pytestmark = pytest.mark.extras


@contextmanager
def browser(shown: Viewer, profile: Path) -> Iterator[None]:
    """Debian's chromium, headless, with WebGL in software."""
    command = ["chromium", "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    process = subprocess.Popen(
        [*command, f"--user-data-dir={profile}", "--window-size=900,600", shown.url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        shown.wait_for_browser(120)
        yield
    finally:
        process.terminate()
        process.wait(30)


def picture(shown: Viewer, path: Path) -> np.ndarray:
    shown.screenshot(path, 900, 600)
    return matplotlib.image.imread(path)[..., :3]


def looks_like(found: np.ndarray, color: tuple[float, float, float]) -> bool:
    """Of the same hue in whatever light: the colours less their grey point the same way."""
    a, b = found - found.min(), np.array(color) - min(color)
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return bool(np.ptp(found) > 0.15 and a @ b / size > 0.97)


@pytest.mark.system
def test_the_robot_is_on_the_picture(tmp_path: Path) -> None:
    q = np.array([0.5, -0.6, 0.4, 0.0, 0.3, 0.0])
    with Viewer("puma560", port=0, q=q) as shown, browser(shown, tmp_path / "profile"):
        for number in range(2):
            image = picture(shown, tmp_path / f"{number}.png")
            at = placed(shown.scene, q)
            for name, joint in (("joint2 link 0", 1), ("joint3 link 0", 2), ("joint6 body", 5)):
                row, column = pixel(shown, at[name].translation)
                assert looks_like(image[row, column], color_of(joint)), (number, name, image[row, column])
            assert np.ptp(image[5, 5]) < 0.05  # the background is neutral
            assert image[5, 5].min() > 0.9  # and light
            q = np.array([0.2, -0.4, 0.2, 0.0, 0.0, 0.0])
            shown.show(q)


@pytest.mark.system
@pytest.mark.filterwarnings("ignore:static_deflection. link .* its tip slopes")  # so that one can see it
def test_the_arm_on_the_picture_bends(tmp_path: Path) -> None:
    arm, _ = flexible()
    tubes = {"link1": 0, "link2": 1}
    with Viewer(arm, port=0) as shown, browser(shown, tmp_path / "profile"):
        straight, curved = np.zeros(arm.tree.nq), bent(arm, 3.0)
        straight[:2] = curved[:2]
        images, tips = [], []
        for number, q in enumerate((straight, curved)):
            shown.show(q)
            images.append(picture(shown, tmp_path / f"{number}.png"))
            tips.append(pixel(shown, arm.tip_placement("link2")(q).full()[:3, 3]))
            for name, k in tubes.items():
                line = shown.scene.tubes[k].line(q)[0].full()
                for section in (12, 20, 28):
                    row, column = pixel(shown, line[:, section])
                    color = color_of(shown.scene.tubes[k].joint)
                    assert looks_like(images[-1][row, column], color), (name, section, images[-1][row, column])
    assert np.hypot(*np.subtract(*tips)) > 20
    payload = next(b for b in shown.scene.visual_model.geometryObjects if b.name.endswith("body")).meshColor[:3]
    for image, own, other in ((images[0], tips[0], tips[1]), (images[1], tips[1], tips[0])):
        assert looks_like(image[own], tuple(payload))
        assert not looks_like(image[other], tuple(payload))
