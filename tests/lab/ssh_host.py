"""An ssh server of our own on this machine, which a test reaches as another host."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import time
from pathlib import Path

from needs import found, missing

from rig.host import free_port

_SSHD = found("sshd")
_TIMEOUT_S = 30.0


def why_no_ssh_host() -> str:
    """Empty where one can be started, else the reason, to skip with."""
    if reason := missing("sshd", "ssh"):
        return reason
    if os.geteuid() == 0 and not Path("/run/sshd").is_dir() and not os.access("/run", os.W_OK):
        return "/run/sshd cannot be made"
    return ""


class SshHost:
    """bin has an `ssh` that knows the host by its name, and by NAME-2, NAME-3 …, and no other.

    It uses no key and no configuration of the user.
    """

    name = "bench"

    def __init__(self, folder: Path):
        self._folder = folder / "ssh"
        self.bin = self._folder / "bin"
        self._port = free_port()

    def __enter__(self) -> SshHost:
        self.bin.mkdir(parents=True)
        self._temporary = self._folder / "tmp"
        self._temporary.mkdir()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host", "user"):
            self._keygen(name)
        shutil.copy(self._folder / "user.pub", self._folder / "authorized")
        self._write_configuration()
        with open(self._folder / "log", "wb") as log:
            command = [str(_SSHD), "-D", "-e", "-f", str(self._folder / "sshd_config")]
            self._server = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + _TIMEOUT_S
        while subprocess.run([self.bin / "ssh", self.name, "true"], capture_output=True).returncode:
            if time.monotonic() > deadline or self._server.poll() is not None:
                self._server.kill()
                raise RuntimeError(f"sshd did not start: {self.log()}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()

    def log(self) -> str:
        return (self._folder / "log").read_text(encoding="utf-8", errors="replace")

    def left_behind(self) -> list[str]:
        """What is in its folder for temporary files."""
        return [path.name for path in self._temporary.iterdir()]

    def _keygen(self, name: str) -> None:
        path = str(self._folder / name)
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True, timeout=60
        )

    def _write_configuration(self) -> None:
        folder = self._folder
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{self._port}\nHostKey {folder}/host\nPidFile none\n"
            f"AuthorizedKeysFile {folder}/authorized\nUsePAM no\nStrictModes no\n"
            f"PermitRootLogin yes\nSetEnv TMPDIR={self._temporary}\n"
        )
        (folder / "ssh_config").write_text(
            f"Host {self.name} {self.name}-*\n  HostName 127.0.0.1\n  Port {self._port}\n"
            f"  User {getpass.getuser()}\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
            f"  StrictHostKeyChecking no\n  UserKnownHostsFile {folder}/known\n  LogLevel ERROR\n"
        )
        ssh = shutil.which("ssh")
        (self.bin / "ssh").write_text(f"#!/bin/sh\nexec {ssh} -F '{folder}/ssh_config' \"$@\"\n")
        (self.bin / "ssh").chmod(0o755)
