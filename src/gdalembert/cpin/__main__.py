"""Run a program with ``pinocchio.casadi`` in place: ``python -m gdalembert.cpin script.py arguments``."""

import importlib.util
import runpy
import sys
from pathlib import Path

from gdalembert import cpin


def main(arguments: list[str]) -> None:
    """Run the script, or the module behind ``-m``, as Python would."""
    if not arguments or arguments == ["-m"]:
        sys.exit("usage: python -m gdalembert.cpin script.py arguments   (or: -m module arguments)")
    cpin.install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = ""
        if importlib.util.find_spec(arguments[1].partition(".")[0]) is None:
            sys.exit(f"{arguments[1]}: there is no such module; give the name of one that Python can import")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    script = Path(arguments[0])
    if not script.is_file():
        sys.exit(f"{script}: there is no such file; give the path of a Python script")
    sys.argv = arguments
    sys.path[0] = str(script.parent.resolve())
    # In this process: another one would not have what was installed.
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
