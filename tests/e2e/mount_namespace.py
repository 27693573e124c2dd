"""File systems that are mounted for one server only, most of them without being root."""

import os
import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

OF_ROOT = ("unshare", "--mount")
NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount"]


def why_no_mounts() -> str | None:
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "there is no unshare or nsenter"
    probe = subprocess.run(
        [*NAMESPACES, "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, text=True
    )
    return None if probe.returncode == 0 else f"no mount namespace: {probe.stderr.strip()}"


def ext4_with_whole_seconds(test: unittest.TestCase, image: Path, folder: Path) -> list[str]:
    """A command prefix: ext4 with inodes of 128 bytes is mounted on the folder. Or skips `test`."""
    if os.geteuid() != 0:
        test.skipTest("only root may mount an image")
    if shutil.which("mkfs.ext4") is None:
        test.skipTest("there is no mkfs.ext4")
    image.write_bytes(b"")
    os.truncate(image, 96 << 20)
    make = ["mkfs.ext4", "-q", "-F", "-I", "128", str(image)]
    subprocess.run(make, check=True, capture_output=True)
    mount = f"mount -o loop {shlex.quote(str(image))}"
    probe = subprocess.run([*OF_ROOT, "sh", "-c", f"{mount} /mnt"], capture_output=True)
    if probe.returncode != 0:
        test.skipTest("no image can be mounted")
    return [*OF_ROOT, "sh", "-c", f'{mount} {shlex.quote(str(folder))} && exec "$0" "$@"']
