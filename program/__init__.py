"""Rivulet: a home media pipeline in one process."""

__version__ = "0.1.0"
