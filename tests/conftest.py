"""Fixtures that every test may ask for."""

pytest_plugins = ["tests.support.databases", "tests.support.honest_counts", "tests.support.stand_ins"]
