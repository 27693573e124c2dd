"""Each Python reads it while the ledger asks which files a test loads: see reached.py."""

import os
import sys

_TOP = os.environ.get("TURNSTILE_LOADED_BELOW", "")
_LOADED = os.environ.get("TURNSTILE_LOADED", "")  # a file to which the paths are appended
_told: set[str] = set()


def _tell(event: str, arguments: tuple[object, ...]) -> None:
    if event != "exec":
        return
    path = getattr(arguments[0], "co_filename", "")
    if path.startswith(_TOP) and path not in _told:
        _told.add(path)
        fd = os.open(_LOADED, os.O_WRONLY | os.O_APPEND)
        os.write(fd, f"{path}\n".encode())
        os.close(fd)


if _TOP and _LOADED:
    sys.addaudithook(_tell)
