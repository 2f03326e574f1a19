"""Exit code 0 when the program in this container answers that it is live; for Docker's HEALTHCHECK."""

import os
import urllib.request

ADDRESS = f"http://127.0.0.1:{os.environ.get('RIVULET_API__PORT', '8484')}/health"

# An answer of 400 or above, and no answer, raise: then Python's exit code is 1.
urllib.request.urlopen(ADDRESS, timeout=8).close()
