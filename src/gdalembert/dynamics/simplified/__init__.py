"""Simplified models with a guaranteed bound on what they get wrong."""
