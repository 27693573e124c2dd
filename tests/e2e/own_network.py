"""A network of our own, in which others' connections and firewall disturb nothing."""

import ctypes
import fcntl
import os
import socket
import struct

_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_UP = 0x1


def enter() -> str | None:
    """Moves this process, and all that it starts, into a network that has only loopback.

    Returns why that is not possible; then nothing has changed. Requires: the process has one
    thread. A user namespace could do it without root, but in one there is no second user, and some
    promises need others.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        return os.strerror(ctypes.get_errno())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _UP))
    return None
