"""Films: a browser without a window that draws the page, and files of the pictures one after the other."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.spatial.arguments import file_path

Picture = npt.NDArray[np.uint8]
"""height × width × 3"""
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"),
    *(f"/Applications/{name}.app/Contents/MacOS/{name}" for name in ("Google Chrome", "Chromium", "Microsoft Edge")),
)
"""Programs and paths of browsers that draw without a window."""
PAGE, MP4, IMAGES = ".html", ".mp4", (".gif", ".webp")
_COLOURS = 128
"""Colours of a GIF."""
_QUALITY = 80
"""Quality of a WebP, of 100."""
_OPTIONS = (
    *("--headless=new", "--enable-unsafe-swiftshader", "--hide-scrollbars", "--no-first-run", "--disable-sync"),
    *("--disable-quic", "--disable-background-networking", "--disable-component-update"),
)
"""WebGL in software where there is no graphics processor; nothing but the page."""


def check_film(path: str | os.PathLike[str], width: int, height: int) -> str:
    """The ending of a film's name, which is its format; of an .mp4 both sides are even."""
    ending = file_path("record", path, "a name that ends in .html, .mp4, .webp or .gif").suffix.lower()
    if ending not in (PAGE, MP4, *IMAGES):
        raise ArgumentError(f"record: {os.fspath(path)}: give a name that ends in .html, .mp4, .webp or .gif")
    if ending == MP4 and (width % 2 or height % 2):
        raise ArgumentError(f"record: {width} × {height} pixels: an .mp4 has sides of even numbers; give such")
    return ending


def find_browser() -> str | None:
    """The first of ``BROWSERS`` that is installed."""
    return next((program for name in BROWSERS if (program := shutil.which(name)) is not None), None)


@contextlib.contextmanager
def headless(program: str, url: str, width: int, height: int) -> Iterator[None]:
    """A browser without a window that shows a page, in a profile of its own."""
    command = [program, *_OPTIONS, f"--window-size={width},{height}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # of which browsers of root have none
    # Its own profile: with that of the user, a browser that runs takes the page, and is not ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        log = logging.getLogger("websockets")
        level = log.level
        try:
            log.setLevel(logging.CRITICAL)  # browsers open idle connections
            yield
        finally:
            log.setLevel(level)
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def write_film(path: str | os.PathLike[str], pictures: Iterator[Picture], fps: float) -> None:
    """Write an .mp4, or a .gif or .webp that repeats for ever."""
    if Path(path).suffix.lower() == MP4:
        _write_mp4(path, pictures, fps)
        return
    from PIL import Image  # a dependency of viser

    first, *others = map(Image.fromarray, pictures)
    how: dict[str, Any] = {"quality": _QUALITY, "method": 6}
    if Path(path).suffix.lower() == ".gif":
        some = [first, *others][:: max(1, len(others) // 8)]
        # One palette for the whole film: with one for each picture the background would flicker.
        colours = Image.fromarray(np.vstack([np.asarray(picture) for picture in some])).quantize(_COLOURS)
        first, *others = (picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in (first, *others))
        how = {}
    ends = np.rint(1000 / fps * np.arange(len(others) + 2)).astype(int)
    first.save(path, save_all=True, append_images=others, duration=np.diff(ends).tolist(), loop=0, **how)


def _ffmpeg(path: str | os.PathLike[str]) -> str:
    """The program that is installed, or else that of the package imageio-ffmpeg."""
    if (program := shutil.which("ffmpeg")) is not None:
        return program
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except ModuleNotFoundError:
        raise UnsupportedError(
            f"record: {os.fspath(path)}: an .mp4 needs ffmpeg; install it, or imageio-ffmpeg by pip, or give a .webp"
        ) from None


def _write_mp4(path: str | os.PathLike[str], pictures: Iterator[Picture], fps: float) -> None:
    program = _ffmpeg(path)
    first = next(pictures)
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{first.shape[1]}x{first.shape[0]}", "-r", f"{fps:g}"]
    asked = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", os.fspath(path)]
    command = [program, "-y", "-loglevel", "error", *source, "-i", "-", *asked]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):  # what ffmpeg says is told below
            for picture in chain([first], pictures):
                process.stdin.write(np.ascontiguousarray(picture).tobytes())
            process.stdin.close()
        reason = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise UnsupportedError(f"record: {os.fspath(path)}: ffmpeg cannot write it: {reason}")
