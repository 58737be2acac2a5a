"""Packages that have an environment of their own: is it the same robot, and what do graphs and batches cost there?"""
