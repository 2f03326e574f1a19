"""Fixtures that every test may ask for."""
