"""Robots on screen: Pinocchio's ``ViserVisualizer``, bodies for URDFs without any, and flexible links."""

from gdalembert.viewer.viewer import Viewer

__all__ = ["Viewer"]
