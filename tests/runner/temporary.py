"""Where the tests have their temporary files."""

import contextlib
import os
import stat
import subprocess
import tempfile
from pathlib import Path


def use_one_folder() -> None:
    """Gives this process, and what it starts from now on, one folder for all temporary files.

    ext4 without a journal looks at each file that was removed there in the last minutes before it
    makes another one, and all that is below /tmp is there. What is in a folder with the attribute
    T is spread over the disk: where tests run, a file takes 20 us of CPU to make, not 350.
    A TMPDIR that somebody has set stays. The folder stays too, for the locks in it.
    """
    if "TMPDIR" in os.environ:
        return
    folder = Path(tempfile.gettempdir(), "turnstile-tests")
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(0o1777)
        with contextlib.suppress(FileNotFoundError):  # on other file systems it fails
            subprocess.run(["chattr", "+T", str(folder)], stderr=subprocess.DEVNULL, check=False)
    if _is_safe(folder):
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def _is_safe(folder: Path) -> bool:
    """Whether nobody else has made it."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (0, os.geteuid())
