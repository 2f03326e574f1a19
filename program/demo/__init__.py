"""The demo: stand-ins for the outside services and a run of the real program against them."""
