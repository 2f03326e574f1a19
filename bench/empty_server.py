"""`python -m bench.empty_server PORT`: Flask behind waitress with nothing to say, as the least that an answer can cost."""

import sys

from flask import Flask
from waitress import serve

# As many as the program's own server has.
THREADS = 16


def main(port: int) -> None:
    """Serve until killed."""
    app = Flask("empty")
    app.add_url_rule("/", view_func=dict[str, str])
    serve(app, host="127.0.0.1", port=port, threads=THREADS)


if __name__ == "__main__":
    main(int(sys.argv[1]))
