"""Runs the Python tests: finds the files, runs each in a process of its own, counts."""
