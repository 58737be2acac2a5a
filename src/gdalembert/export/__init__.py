"""Equations of a robot as text: closed forms (LaTeX, …) or code (C, …); ``FORMATS`` has them all.

from gdalembert.export import derive, write

files = derive("puma560_3", "latex")  # {"puma560_3.tex": …}
write(files, "report")
"""

from gdalembert.export import latex, sympy_source, code  # noqa: F401, I001 (the order of FORMATS)
from gdalembert.export.derivation import derive, write
from gdalembert.export.formats import FORMATS

__all__ = ["FORMATS", "derive", "write"]
