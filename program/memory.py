"""Memory that Python has given back and the system's allocator still holds."""

import ctypes
import gc


def settle() -> None:
    """Treat what is in memory now as there to stay, and give the system what nobody uses.

    A tree of 100,000 files walked through by the collector now and then would keep every reader waiting meanwhile.
    """
    gc.collect()
    gc.freeze()
    # Only glibc has it, and only glibc needs it.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
