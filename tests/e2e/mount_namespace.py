"""File systems that are mounted for one server only, without being root."""

import shutil
import subprocess

NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount"]


def why_no_mounts() -> str | None:
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "there is no unshare or nsenter"
    probe = subprocess.run(
        [*NAMESPACES, "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, text=True
    )
    return None if probe.returncode == 0 else f"no mount namespace: {probe.stderr.strip()}"
