"""The parts of libfuse 2 that fusepy does not call: a session built step by step, and news for the kernel."""

import ctypes
from collections.abc import Callable


class Arguments(ctypes.Structure):
    """libfuse's `struct fuse_args`."""

    _fields_ = (
        ("argc", ctypes.c_int),
        ("argv", ctypes.POINTER(ctypes.c_char_p)),
        ("allocated", ctypes.c_int),
    )


def arguments(options: str) -> Arguments:
    """Return a command line with these mount options."""
    words = (ctypes.c_char_p * 4)(b"rivulet", b"-o", options.encode(), None)
    return Arguments(3, words, 0)


class LibFuse:
    """The functions, typed for ctypes. Raises AttributeError when the library lacks one."""

    def __init__(self, library: ctypes.CDLL) -> None:
        pointer, words = ctypes.c_void_p, ctypes.POINTER(Arguments)
        self._library = library
        self.mount = self._call("fuse_mount", pointer, ctypes.c_char_p, words)
        # libfuse keeps older meanings of this name, one of which an unversioned look-up finds.
        self.new = self._call(
            "fuse_new", pointer, pointer, words, pointer, ctypes.c_size_t, pointer, version=b"FUSE_2.6"
        )
        self.session = self._call("fuse_get_session", pointer, pointer)
        self.largest_request = self._call("fuse_chan_bufsize", ctypes.c_size_t, pointer)
        # Answers one request. Python's lock is kept meanwhile: all but our own callbacks is a matter of microseconds.
        self.process = ctypes.PYFUNCTYPE(None, pointer, pointer, ctypes.c_size_t, pointer)(
            ("fuse_session_process", library)
        )
        self.unmount = self._call("fuse_unmount", None, ctypes.c_char_p, pointer)
        self.destroy = self._call("fuse_destroy", None, pointer)
        self.descriptor = self._call("fuse_chan_fd", ctypes.c_int, pointer)
        self.forget_inode = self._call(
            "fuse_lowlevel_notify_inval_inode",
            ctypes.c_int,
            pointer,
            ctypes.c_uint64,
            ctypes.c_int64,
            ctypes.c_int64,
        )
        self.forget_entry = self._call(
            "fuse_lowlevel_notify_inval_entry",
            ctypes.c_int,
            pointer,
            ctypes.c_uint64,
            ctypes.c_char_p,
            ctypes.c_size_t,
        )

    def _call(
        self, name: str, result: type | None, *parameters: type, version: bytes | None = None
    ) -> Callable[..., int]:
        prototype = ctypes.CFUNCTYPE(result, *parameters)
        address = self._versioned(name, version) if version else None
        return prototype(address) if address else prototype((name, self._library))

    def _versioned(self, name: str, version: bytes) -> int | None:
        """Return the address of one version of a name; None where the system knows no versions."""
        look_up = getattr(ctypes.CDLL(None), "dlvsym", None)
        if look_up is None:
            return None
        look_up.restype, look_up.argtypes = (
            ctypes.c_void_p,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p],
        )
        found: int | None = look_up(self._library._handle, name.encode(), version)  # noqa: SLF001 - ctypes has no other name for it
        return found
