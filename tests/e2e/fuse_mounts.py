"""Folders that are mounted by FUSE. The kernel does not report changes through another mount."""

import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path
from typing import IO

from needs import found, missing
from waiting import eventually

from rig.host import free_port

_HUNG_FUSE = Path(__file__).with_name("hung_fuse.py")
_BRICK = """\
volume posix
  type storage/posix
  option directory {folder}
end-volume
volume locks
  type features/locks
  subvolumes posix
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.listen-port {port}
  option transport.socket.bind-address 127.0.0.1
  option auth.addr.locks.allow 127.0.0.1
  subvolumes locks
end-volume
"""
_CLIENT = """\
volume remote
  type protocol/client
  option transport-type tcp
  option remote-host 127.0.0.1
  option remote-port {port}
  option remote-subvolume locks
end-volume
"""


def require(test: unittest.TestCase, *programs: str) -> None:
    """Skips the test if a program or FUSE is missing."""
    if reason := missing(*programs):
        test.skipTest(reason)
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        test.skipTest("/dev/fuse cannot be opened")


def unmount_later(test: unittest.TestCase, folder: Path) -> None:
    unmount = ["umount", "--lazy"] if os.geteuid() == 0 else [found("fusermount"), "-u", "-z"]
    test.addCleanup(subprocess.run, [*unmount, str(folder)], check=True)


def bind(test: unittest.TestCase, behind: Path, folder: Path) -> None:
    """Mounts what is `behind` at the folder, until the end of the test. Both must be there."""
    require(test, "bindfs", *([] if os.geteuid() == 0 else ["fusermount"]))
    command = ["bindfs", str(behind), str(folder)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        test.skipTest(f"bindfs cannot mount: {made.stderr.strip()}")
    unmount_later(test, folder)


def rclone(test: unittest.TestCase, page: Path, behind: Path, folder: Path) -> None:
    """Mounts with the command of the page what is `behind`, in the place of an object store.

    Skips the test where rclone asks for another fusermount than the one that is here.
    """
    require(test, "rclone", "fusermount")
    (line,) = (line for line in page.read_text().splitlines() if line.startswith("    rclone "))
    places = {"store:bucket": str(behind), "/srv/turnstile": str(folder)}
    words = shlex.split(line)
    test.assertLessEqual(set(places), set(words))
    command = [*(places.get(word, word) for word in words), "--config", "/dev/null"]
    log = behind.with_name("rclone.log")
    process = _run(test, [*command, "--log-file", str(log)])
    eventually(lambda: os.path.ismount(folder) or process.poll() is not None, "rclone has mounted")
    if process.poll() is not None:
        said = log.read_text().strip()
        if "fusermount" in said:
            test.skipTest(f"rclone cannot mount (package fuse3): {said.splitlines()[-1]}")
        test.fail(said)
    # rclone does not unmount a folder that is still served.
    unmount_later(test, folder)


def hung(test: unittest.TestCase, folder: Path, mark: Path) -> Path:
    """Mounts hung_fuse.py until the end of the test. Returns the file with what it prints."""
    require(test)
    if os.geteuid() != 0:
        test.skipTest("only root may mount a file system of its own")
    said = mark.with_name(f"{mark.name}.said")
    with said.open("wb") as output:
        command = [sys.executable, str(_HUNG_FUSE), str(folder), str(mark)]
        process = _run(test, command, output)
    eventually(lambda: said.read_text() or process.poll() is not None, "it is mounted")
    if "mounted" not in said.read_text():
        test.skipTest(f"a file system cannot be mounted: {said.read_text().splitlines()[-1]}")
    unmount_later(test, folder)
    return said


def _run(
    test: unittest.TestCase, command: list[str], output: int | IO[bytes] = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Until the end of the test."""
    process = subprocess.Popen(command, stdout=output, stderr=output)
    test.addCleanup(process.wait)
    test.addCleanup(process.terminate)
    return process


class Gluster:
    """A server of GlusterFS for one folder, without its daemon and without a trace on the host."""

    def __init__(self, test: unittest.TestCase, folder: Path) -> None:
        """What it writes is in `folder`. It ends with the test."""
        require(test, "glusterfsd", "glusterfs")
        if os.geteuid() != 0:
            test.skipTest("only root may write the attributes of files that GlusterFS keeps")
        self.test, self.folder, self.port = test, folder, free_port()
        brick = folder / "brick"
        brick.mkdir()
        self._start("glusterfsd", _BRICK.format(folder=brick, port=self.port), "server")

    def mount(self, folder: Path) -> None:
        arguments = (_CLIENT.format(port=self.port), folder.name, str(folder))
        self._start("glusterfs", *arguments)
        unmount_later(self.test, folder)
        eventually(lambda: os.path.ismount(folder), f"{folder} is mounted")

    def _start(self, program: str, volume: str, name: str, *more: str) -> None:
        file = self.folder / f"{name}.vol"
        file.write_text(volume)
        log = self.folder / f"{name}.log"
        _run(self.test, [program, "--no-daemon", "-f", str(file), "-l", str(log), *more])
