"""A served folder and accounts, for tests with the FTP servers of others."""

import ftplib
import io
import os
import tempfile
import unittest
from pathlib import Path

from lab.systems.peers import known
from lab.systems.peers.packages import LeftOut
from lab.systems.peers.server import Account, Setting
from rig.processes import Address

# Kept between runs of the tests. apt decides which version it gives.
PACKAGES = Path(tempfile.gettempdir()) / f"turnstile-tests-packages-{os.getuid()}"
RIGHT = Account("lab", "right one")
OTHER = Account("lab2", "of the other")
BYTES = bytes(range(256)) * 400


def made_for(test: unittest.TestCase) -> Path:
    """A folder that is removed when the test ends."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return Path(folder.name)


def served(folder: Path) -> Path:
    """Makes the served folder, with the file a.bin, which has BYTES."""
    root = folder / "root"
    root.mkdir(mode=0o755)
    root.chmod(0o755)
    (root / "a.bin").write_bytes(BYTES)
    (root / "a.bin").chmod(0o644)
    return root


def setting(folder: Path, authserver: Address | None = None) -> Setting:
    """Requires: served(folder)."""
    return Setting(
        root=folder / "root",
        folder=folder / "server",
        packages=PACKAGES,
        accounts=(RIGHT, OTHER),
        authserver=authserver,
    )


def skip_if_left_out(test: unittest.TestCase, name: str) -> None:
    """Skips the test, with the reason, where this host cannot run the server."""
    with tempfile.TemporaryDirectory() as other:
        served(Path(other))
        try:
            known.ENTRIES[name].server(setting(Path(other)))
        except LeftOut as reason:
            test.skipTest(str(reason))


def session(address: Address, account: Account) -> ftplib.FTP:
    """Logged in. ftplib.error_perm when the server refuses."""
    client = ftplib.FTP()
    try:
        client.connect(address.host, address.port, timeout=60)
        client.login(account.user, account.password)
    except BaseException:
        client.close()
        raise
    return client


def fetched(address: Address, account: Account, name: str) -> bytes:
    """The bytes of the file. ftplib.error_perm when the server refuses."""
    with session(address, account) as client:
        received = io.BytesIO()
        client.retrbinary(f"RETR {name}", received.write)
        return received.getvalue()
