"""A fresh host with systemd: a container whose first process is systemd, removed at the end.

systemd needs a control group of its own, and the right to mount. The container gets both, and none
of what else `docker run --privileged` would give. It works on hosts with cgroup v1 and v2.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
IMAGE = "debian:trixie-slim"
SOURCES = "/root/turnstile"
PACKAGES = "systemd systemd-sysv dbus make ccache curl man-db"

# What the first process of the container does. $1 is the name of the container. The folder of its
# control group stays on the host until clean() removes it.
FIRST_PROCESS = f"""
set -eu
export DEBIAN_FRONTEND=noninteractive
{{ apt-get -q update && apt-get -q install -y --no-install-recommends {PACKAGES}; }} >/apt.log 2>&1
mkdir /group && mount -t cgroup2 none /group && mkdir -p "/group/$1"
echo $$ >"/group/$1/cgroup.procs"
exec unshare --cgroup --mount sh -euc '
  umount /group; umount -R /sys/fs/cgroup
  mount -t cgroup2 none /sys/fs/cgroup
  exec /sbin/init'
"""
CLEAN = """
mkdir /group && mount -t cgroup2 none /group
[ ! -d "/group/$1" ] || find "/group/$1" -depth -type d -exec rmdir {} +
"""
MAY_MOUNT = ["--cap-add=SYS_ADMIN", "--security-opt=seccomp=unconfined"]
MAY_MOUNT += ["--security-opt=apparmor=unconfined", "--security-opt=systempaths=unconfined"]
FUSE = Path("/dev/fuse")
CAN_MOUNT_SHARES = FUSE.exists()

START_S = 600
COMMAND_S = 1800


def docker(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """Runs docker. Both outputs of what it runs are the standard output, in their order."""
    return subprocess.run(
        ["docker", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=COMMAND_S,
        **options,
    )


def why_no_image() -> str:
    """Why there can be no container, or "" if there can."""
    if not shutil.which("docker"):
        return "there is no docker"
    if docker("image", "inspect", IMAGE).returncode == 0:
        return ""
    pulled = docker("pull", "--quiet", IMAGE)
    return "" if pulled.returncode == 0 else pulled.stdout.strip()


class Host:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "Host":
        # What was compiled is not compiled again: the next run is a minute shorter.
        cache = Path(os.environ.get("OBJECTS") or PROJECT / "build" / "install-ccache")
        cache.mkdir(parents=True, exist_ok=True)
        started = docker(
            *("run", "--detach", "--name", self.name, "--tmpfs=/run", "--tmpfs=/tmp:exec"),
            *MAY_MOUNT,
            *([f"--device={FUSE}"] if CAN_MOUNT_SHARES else []),
            *("--env=container=docker", "--env=CCACHE_DIR=/ccache", f"--volume={cache}:/ccache"),
            *("--env=CCACHE_NOHASHDIR=1", "--env=CCACHE_COMPILERCHECK=content"),
            # Unoptimised programs would do, but their compiler warns about less.
            *("--env=CXXFLAGS=-O1", "--env=DEBIAN_FRONTEND=noninteractive"),
            *(IMAGE, "sh", "-c", FIRST_PROCESS, "sh", self.name),
        )
        if started.returncode != 0:
            raise RuntimeError(started.stdout.strip())
        return self

    def __exit__(self, *failure: object) -> None:
        docker("rm", "--force", self.name)
        docker("run", "--rm", *MAY_MOUNT, IMAGE, "sh", "-euc", CLEAN, "sh", self.name)

    def wait(self) -> None:
        """Until systemd has started everything. Raises RuntimeError if it does not."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            state = docker("exec", self.name, "systemctl", "is-system-running").stdout.strip()
            if state in ("running", "degraded"):
                return
            time.sleep(0.5)
        raise RuntimeError(
            f"systemd did not start in the container: {state}\n"
            + docker("exec", self.name, "tail", "-n", "5", "/apt.log").stdout
            + docker("logs", self.name).stdout
        )

    def copy_sources(self) -> None:
        """HEAD, as a clone has it."""
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=PROJECT, stdout=subprocess.PIPE, check=True
        )
        unpack = ["docker", "exec", "--interactive", self.name, "sh", "-c"]
        unpack.append(f"mkdir {SOURCES} && tar -x -C {SOURCES}")
        subprocess.run(unpack, input=archive.stdout, check=True)

    def forget_starts(self) -> None:
        """systemd starts a unit five times in ten seconds at most, and a person is slower."""
        self.run("systemctl reset-failed")

    def run(self, script: str, user: str = "root") -> subprocess.CompletedProcess[str]:
        """Runs it with bash, in the folder of the sources. The first command that fails ends it."""
        words = ["exec", "--user", user, "--workdir", SOURCES, self.name]
        return docker(*words, "bash", "-e", "-o", "pipefail", "-c", script)
