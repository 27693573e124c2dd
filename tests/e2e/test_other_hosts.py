"""Files that are changed behind the kernel, as other hosts change those of NFS: they are seen."""

import json
from pathlib import Path

import fuse_mounts
from http_client import FLAG, HttpClient
from prefetch_scene import SOON_S
from scene import SceneTest, for_each
from waiting import eventually


class OtherHostsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice()
        self.behind: Path | None = None  # what is mounted

    def mount(self, folder: Path) -> Path:
        """Mounts a folder by FUSE. Returns where it can be changed without the kernel's notice."""
        behind = self.scene.folder / "behind"
        behind.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
        fuse_mounts.bind(self, behind, folder)
        self.behind = behind
        return behind

    def check_changes(self, behind: Path, path: str, *flags: object) -> None:
        """All of them are seen, by GET and in the listing of the folder."""
        for path_before in behind.iterdir():
            path_before.unlink()
        (behind / "a").write_bytes(b"first")
        (behind / "gone").write_bytes(b"gone")
        server = self.scene.fileserver(self.authserver, *FLAG, *flags)
        client = self.scene.keep(HttpClient(server, "alice", "wonderland"))

        def sees(files: dict[str, bytes]) -> bool:
            listing = json.loads(client.ask(path, "Accept: application/json").body)
            sizes = {entry["name"]: entry["size"] for entry in listing if "size" in entry}
            got = {name: client.ask(path + name).body for name in files}
            return got == files and sizes == {name: len(files[name]) for name in files}

        self.assertTrue(sees({"a": b"first", "gone": b"gone"}))
        (behind / "a").write_bytes(b"the second")
        (behind / "new").write_bytes(b"new")
        (behind / "gone").unlink()
        files = {"a": b"the second", "new": b"new"}
        eventually(lambda: sees(files), "the changes are seen", within_s=SOON_S)
        gone = f"{path}gone"
        eventually(lambda: client.ask(gone).status == 404, "it is gone", within_s=SOON_S)
        (behind / "other").write_bytes(b"THE SECOND")
        (behind / "other").rename(behind / "a")
        files["a"] = b"THE SECOND"
        eventually(lambda: sees(files), "a renamed file is seen", within_s=SOON_S)
        self.log = server.log()

    @for_each(("prefetch", "disk"))
    def test_a_served_folder(self, mode: str) -> None:
        behind = self.behind or self.mount(self.scene.root)
        self.check_changes(behind, "/", "--files", mode)
        if mode == "prefetch":
            self.assertIn("watch=poll", self.log)
            self.assertIn("file_system=fuse", self.log)

    def test_a_folder_below(self) -> None:
        behind = self.mount(self.scene.root / "below")
        self.check_changes(behind, "/below/")
        self.assertIn('file_system=fuse folder="below"', self.log)

    def test_a_folder_of_this_host_is_watched(self) -> None:
        log = self.scene.fileserver(self.authserver).log()
        self.assertIn("watch=inotify", log)
        self.assertNotIn("file_system=", log)
