"""Equations of a robot as text: LaTeX, SymPy, Python, C, MATLAB.

from gdalembert.export import derive, write

files = derive("puma560_3", "latex")  # {"puma560_3.tex": …}
write(files, "report")
"""

from gdalembert.export.derivation import FORMATS, derive
from gdalembert.export.files import write

__all__ = ["FORMATS", "derive", "write"]
