"""Programs of others that a test needs: under which names they are found, and in which package.

A test that needs one says so here, so that every reason to skip is one line with the package:

    @unittest.skipIf(missing("rclone", "fusermount"), missing("rclone", "fusermount"))

A program that starts another one needs both.
"""

import os
import shutil

from rig.host import Tool

_OF_THEIR_OWN_NAME = (
    *("bindfs", "caddy", "cadaver", "chromium", "curl", "g++", "gcc", "git", "groff", "haproxy"),
    *("hey", "iperf3", "lftp", "lintian", "litmus", "logrotate", "make", "nginx", "openssl"),
    *("rclone", "rsync", "slowhttptest", "strace", "tidy", "unzip", "wget", "wrk"),
)
_OF_OTHERS = {
    "7z": "p7zip-full",
    "ab": "apache2-utils",
    "apt-get": "apt",
    "aria2c": "aria2",
    "bsdtar": "libarchive-tools",
    "cc": "gcc",
    "c++": "g++",
    "chattr": "e2fsprogs",
    "dbus-run-session": "dbus-daemon",
    "dockerd": "docker.io",
    "dpkg-shlibdeps": "dpkg-dev",
    "fail2ban-regex": "fail2ban",
    "filefrag": "e2fsprogs",
    "gio": "libglib2.0-bin",
    "ip": "iproute2",
    "go": "golang-go",
    "glusterfs": "glusterfs-client",
    "glusterfsd": "glusterfs-server",
    "man": "man-db",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mount.davfs": "davfs2",
    "mysqld": "mysql-server",
    "nsenter": "util-linux",
    "promtool": "prometheus",
    "setpriv": "util-linux",
    "setquota": "quota",
    "ss": "iproute2",
    "ssh": "openssh-client",
    "sshd": "openssh-server",
    "systemd-analyze": "systemd",
    "unshare": "util-linux",
    "xfs_quota": "xfsprogs",
}
_TOOLS = {
    **{name: Tool((name,), name) for name in _OF_THEIR_OWN_NAME},
    **{name: Tool((name,), package) for name, package in _OF_OTHERS.items()},
    "fincore": Tool(("fincore",), "util-linux-extra or util-linux"),
    "gvfsd-dav": Tool(("/usr/libexec/gvfsd-dav",), "gvfs-backends"),
    # The package fuse3 has both names, fuse has the first one, and rclone asks for either.
    "fusermount": Tool(("fusermount", "fusermount3"), "fuse3"),
}
# A user's PATH may have no sbin.
_PLACES = os.pathsep.join(("", "/usr/local/sbin", "/usr/sbin", "/sbin"))


def found(program: str) -> str:
    """Its path, or "" where it is missing. KeyError for a program that has no row here."""
    names = _TOOLS[program].names
    paths = (shutil.which(name, path=os.environ.get("PATH", "") + _PLACES) for name in names)
    return next(filter(None, paths), "")


def missing(*programs: str) -> str:
    """Empty where all of them are installed, else the reason, to skip with."""
    lacking = [name for name in programs if not found(name)]
    said = ", ".join(f"{name} (package {_TOOLS[name].package})" for name in lacking)
    return f"not installed: {said}" if said else ""
