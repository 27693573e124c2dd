"""A program that makes network namespaces, and holds them as long as it lives.

    namespace_holder.py COUNT

It prints a descriptor for each, in one line: /proc/PID/fd/DESCRIPTOR is the namespace. One process
with open descriptors costs less than a process in each, and the end of it is the end of all.
"""

import ctypes
import os
import signal
import sys

_CLONE_NEWNET = 0x40000000


def _made(libc: ctypes.CDLL) -> int:
    if libc.unshare(_CLONE_NEWNET) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    print(*[_made(libc) for _ in range(int(sys.argv[1]))], flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
