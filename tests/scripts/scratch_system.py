"""A scratch system in which real apt and dpkg install packages, without touching this host.

It is an overlay of this host's root file system, whose changes are kept in memory. The overlay
exists in a mount namespace that ends with the script that runs there. Its apt knows one repository,
a local folder of tiny packages that are made here.
"""

import hashlib
import shutil
import tempfile
from pathlib import Path
from subprocess import CompletedProcess

from host import SCRIPTS, in_namespace, run
from needs import missing

# Programs come from this host. The folders that a package manager writes to start empty, and so do
# the links that say which services start with the host.
ENTER = """
root=$1/root; mount -t tmpfs none "$1/memory"; mkdir "$1"/memory/{upper,work}
mount -t overlay none "$root" -o "lowerdir=/,upperdir=$1/memory/upper,workdir=$1/memory/work"
"""
PREPARE = """
for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
for name in etc/apt var/lib/apt var/cache/apt var/lib/dpkg var/log run mnt; do
  mkdir -p "$root/$name"; mount -t tmpfs -o mode=755 none "$root/$name"
done
mkdir -p "$root"/etc/apt/{apt.conf.d,preferences.d} "$root"/var/lib/dpkg/{info,updates,triggers}
mkdir -p "$root/var/lib/apt/lists/partial" "$root"/mnt/{scripts,repository}
touch "$root/var/lib/dpkg/status"
mount --bind "$2" "$root/mnt/scripts"; mount --bind "$1/repository" "$root/mnt/repository"
echo "deb [trusted=yes] file:/mnt/repository ./" >"$root/etc/apt/sources.list"
echo 'APT::Sandbox::User "root";' >"$root/etc/apt/apt.conf"
rm -f "$root"/usr/sbin/policy-rc.d* "$root/usr/sbin/runlevel" "$root"/etc/rc?.d/*
# Runlevel 2 is one in which services start.
printf '#!/bin/sh\necho N 2\n' >"$root/usr/sbin/runlevel"; chmod 755 "$root/usr/sbin/runlevel"
PATH=/usr/sbin:/usr/bin:/sbin:/bin exec chroot "$root" bash -euc "$3"
"""

# A service that creates a file when it is started.
SERVICE = """#!/bin/sh
### BEGIN INIT INFO
# Provides: {name}
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
### END INIT INFO
touch /run/{name}.$1
"""
AFTER_INSTALLATION = (
    "#!/bin/sh\nset -e\nupdate-rc.d {name} defaults >/dev/null\ninvoke-rc.d {name} start\n"
)
SERVICES = {
    "redis-server": "redis-server",
    "mariadb-server": "mariadb",
    "fail2ban": "fail2ban",
    "prometheus": "prometheus",
    "nginx": "nginx",
    "haproxy": "haproxy",
    "openssh-server": "ssh",
}


def why_no_scratch_system() -> str:
    """Returns why this host permits no scratch system, or "" if it does."""
    if reason := missing("apt-get"):
        return reason
    with ScratchSystem([]) as system:
        attempt = in_namespace("--mount", ENTER, system.folder)
    return (
        ""
        if attempt.returncode == 0
        else f"no overlay of this host permitted here: {attempt.stderr.strip()}"
    )


class ScratchSystem:
    """A scratch system whose repository has the named packages. Use it with `with`."""

    def __init__(self, packages: list[str]) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self._scratch.name)
        self.folder.chmod(0o755)
        for name in ("root", "memory", "repository"):
            (self.folder / name).mkdir()
        index = "".join(self._add_package(name) for name in packages)
        (self.folder / "repository" / "Packages").write_text(index)

    def __enter__(self) -> "ScratchSystem":
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def run(self, script: str) -> CompletedProcess[str]:
        """Runs a bash script as root of a fresh system; /mnt/scripts has the project's scripts."""
        return in_namespace("--mount", ENTER + PREPARE, self.folder, SCRIPTS, script)

    def _add_package(self, name: str) -> str:
        """Builds a package; returns its paragraph of the repository's index."""
        tree = self.folder / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        control = (
            f"Package: {name}\nVersion: 1\nArchitecture: all\n"
            "Maintainer: nobody <nobody@localhost>\nDescription: tiny\n"
        )
        (tree / "DEBIAN" / "control").write_text(control)
        if service := SERVICES.get(name):
            self._add_program(tree / "etc" / "init.d" / service, SERVICE.format(name=service))
            self._add_program(tree / "DEBIAN" / "postinst", AFTER_INSTALLATION.format(name=service))
        package = self.folder / "repository" / f"{name}.deb"
        run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, package).check_returncode()
        shutil.rmtree(tree)
        content = package.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        return f"{control}Filename: ./{package.name}\nSize: {len(content)}\nSHA256: {digest}\n\n"

    @staticmethod
    def _add_program(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
