"""A fileserver with --rights FILE, and what each of its users is answered."""

from dataclasses import dataclass

from http_client import FLAG
from scene import SharedSceneTest, create_account

PASSWORD = "wonderland"

RIGHTS = """\
group staff: bob
amy     /             read write
@staff  /             read
cid     /in/deep      read
cid     /way/x        read
dan     /in           read write
dan     /in/deep/pay  none
*       /home/%u      read write
"""
USERS = ("amy", "bob", "cid", "dan", "eve")


@dataclass(frozen=True)
class Asked:
    """A request of HTTP, and what each of USERS is answered."""

    method: str
    path: str
    statuses: tuple[int, int, int, int, int]
    fields: tuple[str, ...] = ()

    def body(self) -> bytes:
        return b"body" if self.method == "PUT" else b""


FILES = (
    "top",
    "way",
    "in/file",
    "in/gone",
    "in/deep/file",
    "in/deep/gone",
    "in/deep/payx",
    "in/deep/pay/file",
    "home/bob/file",
    "home/cid/file",
    "home/eve/file",
)


class RightsScene(SharedSceneTest):
    """One server of all tests, which may change its files."""

    @classmethod
    def prepare(cls) -> None:
        cls.write_files()
        rights = cls.scene.folder / "rights"
        rights.write_text(RIGHTS)
        authserver = cls.scene.authserver("--password-scheme", "plain")
        for user in USERS:
            create_account(authserver, user)
        flags = (*FLAG, "--rights", rights)
        cls.server = cls.scene.fileserver(authserver, *flags, "--uploads", "folder")
        cls.read_only = cls.scene.fileserver(authserver, *flags)

    @classmethod
    def write_files(cls) -> None:
        # Each is there as a whole. What a server has seen of a file before its bytes came is served
        # for up to two seconds.
        whole = cls.scene.folder / "whole"
        for name in FILES:
            whole.write_bytes(name.encode())
            path = cls.scene.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            whole.replace(path)
        (cls.scene.root / "in/empty").mkdir(exist_ok=True)
        new = cls.scene.root / "in/new"
        if new.exists():
            new.rmdir()

    def all_files(self) -> dict[str, bytes]:
        paths = sorted(self.scene.root.rglob("*"))
        return {str(path): path.read_bytes() if path.is_file() else b"" for path in paths}
