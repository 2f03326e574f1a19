"""Loopback servers that speak each provider's protocol; also the test doubles of the suite."""
