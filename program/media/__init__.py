"""Values and pure rules of the domain; no input or output happens here."""
