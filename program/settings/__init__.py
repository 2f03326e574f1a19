"""The user's settings: typed, validated, saved whole or not at all."""
