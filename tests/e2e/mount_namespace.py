"""File systems that are mounted for one server only, most of them without being root."""

import errno
import os
import shlex
import subprocess
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from needs import found, missing

OF_ROOT = ("unshare", "--mount")
NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount"]


def why_no_mounts() -> str | None:
    if reason := missing("unshare", "nsenter"):
        return reason
    probe = subprocess.run(
        [*NAMESPACES, "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, text=True
    )
    return None if probe.returncode == 0 else f"no mount namespace: {probe.stderr.strip()}"


class NoMount(Exception):
    """It cannot be mounted here. The text says why."""


def mounted_on(folder: Path, *options: str) -> list[str]:
    """A command prefix: for that command alone something is mounted on the folder, by root."""
    mount = shlex.join(["mount", *options])
    if os.geteuid() != 0:
        raise NoMount("only root may mount it")
    _check([*OF_ROOT, "sh", "-c", f"{mount} /mnt"])
    return [*OF_ROOT, "sh", "-c", f'{mount} {shlex.quote(str(folder))} && exec "$0" "$@"']


def whole_seconds_on(folder: Path, image: Path) -> list[str]:
    """The same with ext4 that has inodes of 128 bytes."""
    if reason := missing("mkfs.ext4"):
        raise NoMount(reason)
    image.write_bytes(b"")
    os.truncate(image, 96 << 20)
    _check([found("mkfs.ext4"), "-q", "-F", "-I", "128", str(image)])
    return mounted_on(folder, "-o", "loop", str(image))


@dataclass(frozen=True)
class Quota:
    """How a file system gives a folder 2 MiB, as docs/share.md has it."""

    make: tuple[str, ...]
    limit: tuple[tuple[str, ...], ...]  # {0} is where it is mounted, {1} the folder


QUOTAS = {
    "xfs": Quota(
        ("mkfs.xfs", "-q", "-f"),
        (
            ("xfs_quota", "-x", "-c", "project -s -p {1} 7", "{0}"),
            ("xfs_quota", "-x", "-c", "limit -p bhard=2m 7", "{0}"),
        ),
    ),
    "ext4": Quota(
        ("mkfs.ext4", "-q", "-F", "-O", "quota,project", "-E", "quotatype=prjquota"),
        (
            ("chattr", "-R", "-p", "7", "+P", "{1}"),
            ("setquota", "-P", "7", "0", "2048", "0", "0", "{0}"),
        ),
    ),
}


def with_quota(kind: str, root: Path, folder: str, image: Path, user: str) -> list[str]:
    """The same with a file system of 400 MB that belongs to `user`: one folder in it has a quota.

    The user is not to be root, whom ext4 does not limit.
    """
    quota = QUOTAS[kind]
    if os.geteuid() != 0:
        raise NoMount("only root may mount it")
    if reason := missing(quota.make[0], *(command[0] for command in quota.limit)):
        raise NoMount(reason)
    image.write_bytes(b"")
    os.truncate(image, 400 << 20)
    limited = str(root / folder)
    commands = [
        ["mount", "-o", "loop,prjquota", str(image), str(root)],
        ["mkdir", "-m", "700", limited],
        ["chown", user, str(root), limited],
    ]
    for name, *words in quota.limit:
        commands.append([found(name), *(word.format(root, limited) for word in words)])
    script = " && ".join(shlex.join(command) + " >&2" for command in commands)
    prefix = [*OF_ROOT, "sh", "-c", f'{script} && exec "$0" "$@"']
    make = [found(quota.make[0]), *quota.make[1:], str(image)]
    _check(make)
    _check([*prefix, "true"])
    _check(make)
    return prefix


def ext4_with_whole_seconds(test: unittest.TestCase, image: Path, folder: Path) -> list[str]:
    """The same, or skips `test`."""
    try:
        return whole_seconds_on(folder, image)
    except NoMount as reason:
        test.skipTest(str(reason))


@contextmanager
def sound(test: unittest.TestCase) -> Iterator[None]:
    """Skips `test` if what is mounted fails under the test itself: some kernels give errors when a
    loop device is read ahead.
    """
    try:
        yield
    except OSError as failure:
        if failure.errno not in (errno.EBADMSG, errno.EIO, errno.EUCLEAN):
            raise
        test.skipTest(f"what was mounted fails here: {failure}")


def _check(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise NoMount(f"{command[0]}: {done.stderr.strip()}")
