"""Robots on screen: Pinocchio's ``ViserVisualizer``, bodies for URDFs that have none, and beams that bend."""

from gdalembert.viewer.viewer import Viewer

__all__ = ["Viewer"]
