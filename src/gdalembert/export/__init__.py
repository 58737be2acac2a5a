"""Equations of a robot as text: closed forms (LaTeX, …) or code (C, …); ``FORMATS`` has them all.

from gdalembert.export import derive, write

files = derive("puma560_3", "latex")  # {"puma560_3.tex": …}
write(files, "report")
"""

from gdalembert.export import latex, code  # noqa: F401, I001  # each registers formats, in their order
from gdalembert.export.formats import FORMATS, derive, write

__all__ = ["FORMATS", "derive", "write"]
