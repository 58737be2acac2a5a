"""The pictures of gallery.md: what the code above each of them draws.

python docs/make_gallery.py
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from matplotlib import pyplot
from PIL import Image

HERE = Path(__file__).parent
PAGE = HERE / "gallery.md"


def steps() -> Iterator[tuple[str, str | None]]:
    """Each code block of the page, and the picture that follows it, if one does."""
    text = PAGE.read_text(encoding="utf-8")
    for code, after in re.findall(r"^```python\n(.*?)^```\n(.*?)(?=^```python|\Z)", text, re.MULTILINE | re.DOTALL):
        picture = re.search(r"!\[[^\]]*\]\((images/gallery_\w+\.png)\)", after)
        yield code, picture and picture[1]


def main() -> None:
    """Run the page, and write its pictures in 64 colours, a third as large as with all."""
    pyplot.switch_backend("agg")
    namespace: dict[str, object] = {}
    for code, picture in steps():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, str(PAGE), "exec"), namespace)
        if picture is not None:
            drawn = io.BytesIO()
            pyplot.gcf().savefig(drawn, dpi=130)
            path = HERE / picture
            path.parent.mkdir(exist_ok=True)
            Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
            print(picture, path.stat().st_size)


if __name__ == "__main__":
    main()
