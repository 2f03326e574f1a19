"""Content services: they say what people want. One file per service."""
