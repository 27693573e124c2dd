"""Clients of WebDAV: rclone, davfs2, gio and cadaver work on the folder."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from judge_scene import FILES, PASSWORD, USER, JudgeTest, environment, needs
from waiting import LONG_S, eventually


def _has_fuse() -> bool:
    return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


def _is_removed(folder: Path) -> bool:
    """Tries to remove it. A client may still be about to send, or to delete, what was in it."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class WebdavTest(JudgeTest):
    def rclone(self, *arguments: object, status: int = 0) -> str:
        done = self.run_judge("rclone", *self.rclone_flags(), *arguments, status=status)
        return done.stdout + done.stderr

    def rclone_flags(self) -> tuple[str, ...]:
        obscured = self.run_judge("rclone", "--config", "/dev/null", "obscure", PASSWORD).stdout
        return (
            *("--config", "/dev/null", "--webdav-url", f"{self.url}/", "--webdav-user", USER),
            *("--webdav-pass", obscured.strip()),
        )

    @needs("rclone")
    def test_rclone(self) -> None:
        source = self.work / "source"
        for name, content in FILES.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.rclone("copy", source, ":webdav:copied")
        listed = self.rclone("lsf", "-R", "--files-only", ":webdav:copied").splitlines()
        self.assertEqual(set(listed), set(FILES))
        self.assertIn("0 differences", self.rclone("check", "--download", source, ":webdav:copied"))
        (source / "small.txt").unlink()
        self.rclone("sync", source, ":webdav:copied")
        self.assertFalse((self.scene.root / "copied" / "small.txt").exists())
        self.rclone("check", "--download", ":webdav:copied", source)
        (source / "sub" / "empty").write_bytes(b"x")
        self.rclone("check", "--download", source, ":webdav:copied", status=1)

    @needs("cadaver")
    def test_cadaver(self) -> None:
        machine = self.server.further_address("http")[0]
        netrc = f"machine {machine}\nlogin {USER}\npassword {PASSWORD}\n"
        (self.work / ".netrc").write_text(netrc)
        said = self.run_judge("cadaver", f"{self.url}/", stdin=b"ls\nget small.txt\nquit\n").stdout
        self.assertRegex(said, r"Coll: +sub ")
        self.assertEqual((self.work / "small.txt").read_bytes(), FILES["small.txt"])

    @needs("gio")
    @needs("dbus-run-session")
    @unittest.skipUnless(Path("/usr/libexec/gvfsd-dav").exists(), "gvfs-backends is missing")
    def test_gio(self) -> None:
        dav = f"dav://{USER}@{self.address}/"
        script = (
            f"echo {PASSWORD} | gio mount {dav} && gio list {dav}sub && gio cat {dav}small.txt"
            f" && gio mount -u {dav}"
        )
        said = self.run_judge("dbus-run-session", "--", "sh", "-c", script).stdout
        self.assertIn("\ndeep\n", "\n" + said)
        self.assertIn(FILES["small.txt"].decode(), said)

    def work_on(self, mounted: Path) -> None:
        """What a person does in a mounted folder, but for renaming."""
        self.assertEqual((mounted / "large.bin").read_bytes(), FILES["large.bin"])
        made = mounted / f"made-{self.work.name}"
        made.mkdir()
        (made / "a").write_bytes(FILES["large.bin"])
        served = self.scene.root / made.name / "a"
        eventually(lambda: served.exists() and served.read_bytes() == FILES["large.bin"], "written")
        (made / "a").unlink()
        eventually(lambda: _is_removed(made), "removed")
        eventually(lambda: not served.parent.exists(), "removed on the server")

    @needs("rclone")
    @needs("fusermount3")
    @unittest.skipUnless(_has_fuse(), "mounting needs root and /dev/fuse")
    def test_a_mount_of_rclone(self) -> None:
        mounted = self.work / "mounted"
        mounted.mkdir()
        self.start_judge(
            *("rclone", *self.rclone_flags(), "mount", ":webdav:", mounted),
            *("--vfs-cache-mode", "writes", "--vfs-write-back", "100ms"),
        )
        self.addCleanup(subprocess.run, ["umount", "-l", str(mounted)], check=False)
        eventually(lambda: os.path.ismount(mounted), "mounted")
        self.assertEqual(sorted(os.listdir(mounted / "sub")), ["deep", "empty", "page.html"])
        self.work_on(mounted)

    @needs("mount.davfs")
    @unittest.skipUnless(_has_fuse(), "mounting needs root and /dev/fuse")
    def test_a_mount_of_davfs2(self) -> None:
        """It is not listed: davfs2 1.6.1 fails with EINVAL at that on some kernels, by itself."""
        mounted, cache = self.work / "mounted", self.work / "cache"
        for folder in (mounted, cache):
            folder.mkdir()
        os.chmod(self.scene.folder, 0o755)
        os.chmod(self.work, 0o755)
        shutil.chown(cache, group="davfs2")
        os.chmod(cache, 0o775)
        secrets, settings = self.work / "secrets", self.work / "settings"
        secrets.write_text(f"{self.url}/ {USER} {PASSWORD}\n")
        secrets.chmod(0o600)
        settings.write_text(
            f"secrets {secrets}\ncache_dir {cache}\nuse_locks 0\ndelay_upload 0\n", "utf-8"
        )
        mount = ["mount", "-t", "davfs", "-o", f"conf={settings}", f"{self.url}/", str(mounted)]
        subprocess.run(mount, env=environment(self.work), timeout=LONG_S, check=True)
        self.addCleanup(subprocess.run, ["umount", str(mounted)], timeout=LONG_S, check=True)
        self.work_on(mounted)
