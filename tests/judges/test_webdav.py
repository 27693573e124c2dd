"""Clients of WebDAV: rclone, gio and cadaver work on the folder."""

import os
import subprocess

from judge_scene import FILES, PASSWORD, USER, environment, needs, write_files
from rclone_scene import RcloneTest
from waiting import LONG_S

MANY_FOLDERS = 10
FILES_OF_EACH = 1_000


class ClientsTest(RcloneTest):
    @needs("rclone")
    def test_rclone(self) -> None:
        source = self.work / "source"
        write_files(source, FILES)
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

    @needs("rclone")
    def test_rclone_keeps_the_times_of_files(self) -> None:
        source = self.work / "source"
        write_files(source, {"old.txt": b"old", "sub/older.txt": b"older"})
        for number, path in enumerate(sorted(source.rglob("*.txt"))):
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))
        as_owncloud = ("--webdav-vendor", "owncloud")
        self.rclone("copy", *as_owncloud, source, ":webdav:kept")
        kept = self.scene.root / "kept"
        for path in source.rglob("*.txt"):
            served = (kept / path.relative_to(source)).stat().st_mtime
            self.assertEqual(int(served), int(path.stat().st_mtime), path.name)
        # By the times alone there is nothing to copy again.
        said = self.rclone("copy", "-v", *as_owncloud, source, ":webdav:kept")
        self.assertNotIn("Copied", said)
        (source / "old.txt").write_bytes(b"new")
        self.assertIn("Copied", self.rclone("copy", "-v", *as_owncloud, source, ":webdav:kept"))
        self.assertEqual((kept / "old.txt").read_bytes(), b"new")

    @needs("cadaver")
    def test_cadaver(self) -> None:
        machine = self.server.further_address("http")[0]
        netrc = f"machine {machine}\nlogin {USER}\npassword {PASSWORD}\n"
        (self.work / ".netrc").write_text(netrc)
        said = self.run_judge("cadaver", f"{self.url}/", stdin=b"ls\nget small.txt\nquit\n").stdout
        self.assertRegex(said, r"Coll: +sub ")
        self.assertEqual((self.work / "small.txt").read_bytes(), FILES["small.txt"])

    @needs("gio", "dbus-run-session", "gvfsd-dav")
    def test_gio(self) -> None:
        dav = f"dav://{USER}@{self.address}/"
        script = (
            f"echo {PASSWORD} | gio mount {dav} && gio list {dav}sub && gio cat {dav}small.txt"
            f" && gio mount -u {dav}"
        )
        said = self.run_judge("dbus-run-session", "--", "sh", "-c", script).stdout
        self.assertIn("\ndeep\n", "\n" + said)
        self.assertIn(FILES["small.txt"].decode(), said)


class ClientsOfLoopsTest(ClientsTest):
    model = "event"


class ManyFilesTest(RcloneTest):
    @needs("rclone")
    def test_ten_thousand_small_files_by_rclone(self) -> None:
        """rclone 1.60 sends at most 100 requests per second, three for each file: so ten of it."""
        contents = {
            f"{folder}/{number}": f"{folder} {number}\n".encode() * 64
            for folder in range(MANY_FOLDERS)
            for number in range(FILES_OF_EACH)
        }
        write_files(self.work / "source", contents)
        flags = (*self.rclone_flags(), "--transfers", "8", "--checkers", "8")
        copies = [
            subprocess.Popen(
                ["rclone", *flags, "copy", f"source/{folder}", f":webdav:many/{folder}"],
                cwd=self.work,
                env=environment(self.work),
            )
            for folder in range(MANY_FOLDERS)
        ]
        try:
            self.assertEqual([copy.wait(20 * LONG_S) for copy in copies], [0] * MANY_FOLDERS)
        finally:
            for copy in copies:
                copy.kill()
                copy.wait()
        served = self.scene.root / "many"
        self.assertEqual({name: (served / name).read_bytes() for name in contents}, contents)
        self.assertEqual(sum(path.is_file() for path in served.rglob("*")), len(contents))
        self.rclone("check", "--size-only", "source", ":webdav:many")
        self.rclone("purge", ":webdav:many")
        self.assertFalse(served.exists())
