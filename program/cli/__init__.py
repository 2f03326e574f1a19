"""What the commands of `main.py` print."""
