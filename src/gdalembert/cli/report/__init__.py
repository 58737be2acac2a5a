"""``gdalembert report ROBOT``: the whole package on one robot, as one page of HTML."""

from gdalembert.cli.report.command import add_report, run_report

__all__ = ["add_report", "run_report"]
