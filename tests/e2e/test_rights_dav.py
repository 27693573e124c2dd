"""--rights FILE: what each user may do by WebDAV and as a zip file."""

import io
import os
import shutil
import zipfile

from dav import ALL, DavAnswer, ask, responses
from dav_client import lock_info
from rights_scene import FILES, PASSWORD, USERS, Asked, RightsScene
from scene import with_loops

FREE = "Lock-Token: <urn:uuid:00000000-0000-4000-8000-000000000000>"
PATCH = (
    b'<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:x/></D:prop></D:set></D:propertyupdate>'
)
BODIES = {"PROPFIND": ALL, "PROPPATCH": PATCH, "LOCK": lock_info()}

AMY = ("amy", PASSWORD)
ZERO = ("Depth: 0",)
SEEN = (
    Asked("PROPFIND", "/", (207, 207, 207, 207, 207)),
    Asked("PROPFIND", "/top", (207, 207, 404, 404, 404)),
    Asked("PROPFIND", "/way", (207, 207, 404, 404, 404)),  # a file, where cid may list a folder
    Asked("PROPFIND", "/nothing", (404, 404, 404, 404, 404)),
    Asked("PROPFIND", "/in", (207, 207, 207, 207, 404)),
    Asked("PROPFIND", "/in/", (207, 207, 207, 207, 404)),
    Asked("PROPFIND", "/in/file", (207, 207, 404, 207, 404)),
    Asked("PROPFIND", "/in/deep", (207, 207, 207, 207, 404)),
    Asked("PROPFIND", "/in/deep/pay", (207, 207, 207, 404, 404)),
    Asked("PROPFIND", "/in/deep/pay/", (207, 207, 207, 404, 404)),
    Asked("PROPFIND", "/in/deep/pay/file", (207, 207, 207, 404, 404)),
    Asked("PROPFIND", "/home/cid/", (207, 207, 207, 404, 404)),
)
PROPERTIES = (
    Asked("PROPPATCH", "/top", (207, 403, 404, 404, 404)),
    Asked("PROPPATCH", "/in", (207, 403, 404, 207, 404)),
    Asked("PROPPATCH", "/in/file", (207, 403, 404, 207, 404)),
    Asked("PROPPATCH", "/in/deep/file", (207, 403, 403, 207, 404)),
    Asked("PROPPATCH", "/in/deep/pay/file", (207, 403, 403, 404, 404)),
    Asked("PROPPATCH", "/home/cid/file", (207, 403, 207, 404, 404)),
)
LOCKS = (
    Asked("LOCK", "/top", (200, 403, 404, 404, 404)),
    Asked("LOCK", "/in/file", (200, 403, 404, 200, 404)),
    Asked("LOCK", "/in/new.txt", (201, 403, 404, 201, 404)),
    Asked("LOCK", "/in/deep/file", (200, 403, 403, 200, 404)),
    Asked("LOCK", "/in/deep/pay/file", (200, 403, 403, 404, 404)),
    Asked("LOCK", "/in/deep/pay/new", (201, 403, 403, 404, 404)),
    Asked("LOCK", "/in/deep/", (200, 403, 403, 403, 404)),  # above what dan may not write
    Asked("LOCK", "/in/deep/", (200, 403, 403, 200, 404), ZERO),
    Asked("LOCK", "/home/cid/file", (200, 403, 200, 404, 404)),
    Asked("UNLOCK", "/top", (409, 403, 404, 404, 404), (FREE,)),
    Asked("UNLOCK", "/in/file", (409, 403, 404, 409, 404), (FREE,)),
    Asked("UNLOCK", "/in/deep/file", (409, 403, 403, 409, 404), (FREE,)),
    Asked("UNLOCK", "/in/deep/pay/file", (409, 403, 403, 404, 404), (FREE,)),
)


def to(path: str) -> tuple[str]:
    return (f"Destination: {path}",)


MOVES = (
    Asked("MOVE", "/in/file", (201, 403, 404, 201, 404), to("/in/moved")),
    Asked("MOVE", "/in/file", (201, 403, 404, 404, 404), to("/moved")),
    Asked("MOVE", "/in/file", (204, 403, 404, 204, 404), to("/in/deep/file")),
    Asked("MOVE", "/in/file", (204, 403, 404, 403, 404), to("/in/deep")),  # with pay below it
    Asked("MOVE", "/in/deep/file", (201, 403, 403, 404, 404), to("/in/deep/pay/new")),
    Asked("MOVE", "/in/deep/file", (204, 403, 403, 404, 404), to("/in/deep/pay/file")),
    Asked("MOVE", "/in/deep/file", (201, 403, 403, 404, 404), to("/home/cid/moved")),
    Asked("MOVE", "/in/deep/pay/file", (201, 403, 403, 404, 404), to("/in/moved")),
    Asked("MOVE", "/in/deep/", (201, 403, 403, 403, 404), to("/in/other/")),
    Asked("MOVE", "/in/empty/", (201, 403, 404, 201, 404), to("/in/other/")),
    Asked("MOVE", "/home/cid/file", (201, 403, 201, 404, 404), to("/home/cid/moved")),
    Asked("MOVE", "/home/bob/file", (201, 201, 404, 404, 404), to("/home/bob/moved")),
    Asked("MOVE", "/top", (201, 403, 404, 404, 404), to("/home/bob/moved")),
    Asked("COPY", "/in/file", (201, 403, 404, 201, 404), to("/in/copy")),
    Asked("COPY", "/in/file", (201, 201, 404, 404, 404), to("/home/bob/copy")),
    Asked("COPY", "/top", (201, 403, 404, 404, 404), to("/home/eve/copy")),
    Asked("COPY", "/in/deep/file", (201, 403, 201, 404, 404), to("/home/cid/copy")),
    Asked("COPY", "/in/deep/file", (201, 403, 403, 404, 404), to("/in/deep/pay/new")),
    Asked("COPY", "/in/deep/pay/file", (201, 403, 404, 404, 404), to("/in/copy")),
    Asked("COPY", "/in/deep/", (201, 403, 201, 403, 404), to("/home/cid/copy/")),
    Asked("COPY", "/in/deep/", (201, 403, 404, 403, 404), to("/in/copy/")),  # with pay below it
    Asked("COPY", "/in/empty/", (204, 403, 404, 403, 404), to("/in/deep/")),
)
REMOVALS = (
    Asked("DELETE", "/in/", (204, 403, 404, 403, 404)),  # above what dan may not write
    Asked("DELETE", "/in/deep/", (204, 403, 403, 403, 404)),
    Asked("DELETE", "/in/deep/pay/", (204, 403, 403, 404, 404)),
    Asked("DELETE", "/in/empty/", (204, 403, 404, 204, 404)),
    Asked("DELETE", "/home/cid/", (204, 403, 204, 404, 404)),
    Asked("DELETE", "/home/bob/", (204, 204, 404, 404, 404)),
    Asked("DELETE", "/nothing/", (404, 403, 404, 404, 404)),
)
ZIPS = (
    Asked("GET", "/-/zip/", (200, 200, 200, 200, 200)),
    Asked("GET", "/-/zip/in/", (200, 200, 200, 200, 404)),
    Asked("GET", "/-/zip/in/deep/", (200, 200, 200, 200, 404)),
    Asked("GET", "/-/zip/in/deep/pay/", (200, 200, 200, 404, 404)),
    Asked("GET", "/-/zip/home/cid/", (200, 200, 200, 404, 404)),
    Asked("GET", "/-/zip/nothing/", (404, 404, 404, 404, 404)),
)
READABLE = {
    "amy": set(FILES),
    "bob": set(FILES),
    "cid": {name for name in FILES if name.startswith("in/deep/")} | {"home/cid/file"},
    "dan": {name for name in FILES if name.startswith("in/")} - {"in/deep/pay/file"},
    "eve": {"home/eve/file"},
}


@with_loops
class RightsOfDavTest(RightsScene):
    def setUp(self) -> None:
        self.write_again()

    def test_a_lock_behind_a_link_does_not_tell_a_name_that_may_not_be_read(self) -> None:
        def ask_border(user: str, method: str, last: str, *fields: str) -> str:
            asked = Asked(method, f"/in/border/{last}", (0, 0, 0, 0, 0), fields)
            return self.ask(user, asked).body.decode()

        def unlock(user: str, path: str, told: str) -> None:
            token = told.partition("<D:locktoken><D:href>")[2].partition("<")[0]
            asked = Asked("UNLOCK", path, (0, 0, 0, 0, 0), (f"Lock-Token: <{token}>",))
            self.assertEqual(self.ask(user, asked).status, 204)

        def root_of(name: str) -> str:
            return f"<D:href>/{name}</D:href>"

        os.symlink("deep/pay", self.scene.root / "in/border")
        self.scene.write("in/deep/pay/b", b"b")
        locked = ask(self.server, "LOCK", "/in/deep/pay/file", body=lock_info(), user=AMY)
        own = locked.body.decode()
        self.assertIn(root_of("in/deep/pay/file"), own)
        border = root_of("in/border/file")
        for method in ("PUT", "LOCK", "DELETE", "PROPFIND", "PROPPATCH"):
            with self.subTest(method):
                told = ask_border("dan", method, "file", "Depth: 0")
                self.assertIn(border, told)
                self.assertNotIn("pay", told)
        told = ask_border("dan", "PROPFIND", "", "Depth: 1")
        self.assertIn(border, told)
        self.assertNotIn("pay", told)
        for method in ("MOVE", "COPY"):
            told = ask_border("dan", method, "b", "Destination: /in/border/file")
            self.assertIn(border, told)
            self.assertNotIn("pay", told)
        # Who may read it is told where the lock is.
        self.assertIn(root_of("in/deep/pay/file"), ask_border("bob", "PROPFIND", "file", *ZERO))
        for name in ("b", "new"):  # locks of his own
            told = ask_border("dan", "LOCK", name)
            self.assertIn(f"<D:lockroot>{root_of(f'in/border/{name}')}</D:lockroot>", told)
            self.assertNotIn("pay", told)
            unlock("dan", f"/in/border/{name}", told)
        unlock("amy", "/in/deep/pay/file", own)

    def write_again(self) -> None:
        for path in self.scene.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.write_files()

    def ask(self, user: str, asked: Asked, *fields: str) -> DavAnswer:
        return ask(
            self.server,
            asked.method,
            asked.path,
            *asked.fields,
            *fields,
            body=BODIES.get(asked.method, b""),
            user=(user, PASSWORD),
        )

    def check(self, rows: tuple[Asked, ...], *fields: str) -> None:
        for asked in rows:
            for user, status in zip(USERS, asked.statuses, strict=True):
                with self.subTest(f"{asked.method} {asked.path} {asked.fields} {fields} {user}"):
                    before = self.all_files()
                    answer = self.ask(user, asked, *fields)
                    self.assertEqual(answer.status, status)
                    if status >= 400 or asked.method == "PROPPATCH":
                        self.assertEqual(self.all_files(), before)
                    else:
                        self.undo(user, asked, answer)

    def undo(self, user: str, asked: Asked, answer: DavAnswer) -> None:
        if asked.method == "LOCK":
            token = f"Lock-Token: {answer.fields['lock-token']}"
            unlocked = self.ask(user, Asked("UNLOCK", asked.path, asked.statuses), token)
            self.assertEqual(unlocked.status, 204)
        if asked.method not in BODIES or answer.status == 201:
            self.write_again()

    def test_properties_are_of_what_the_user_may_see(self) -> None:
        for depth in ("0", "1"):
            self.check(SEEN, f"Depth: {depth}")

    def test_properties_may_be_set_by_who_may_write(self) -> None:
        self.check(PROPERTIES)

    def test_only_who_may_write_locks(self) -> None:
        self.check(LOCKS)

    def test_who_may_not_lock_a_folder_does_not_learn_that_something_in_it_is_locked(self) -> None:
        of_file = Asked("LOCK", "/in/deep/file", (200,) * 5)
        locked = self.ask("amy", of_file)
        self.assertEqual(locked.status, 200)
        self.assertEqual(self.ask("dan", Asked("LOCK", "/in/deep/", (403,) * 5)).status, 403)
        self.undo("amy", of_file, locked)

    def test_a_move_needs_rights_at_both_ends(self) -> None:
        self.check(MOVES)

    def test_a_folder_is_removed_by_who_may_write_all_of_it(self) -> None:
        self.check(REMOVALS)

    def test_members_are_those_that_the_user_may_see(self) -> None:
        for user, path, names in (
            ("amy", "/", {"/", "/home/", "/in/", "/top", "/way"}),
            ("cid", "/", {"/", "/home/", "/in/"}),
            ("dan", "/in/", {"/in/", "/in/deep/", "/in/empty/", "/in/file", "/in/gone"}),
            ("dan", "/in/deep/", {f"/in/deep/{name}" for name in ("", "file", "gone", "payx")}),
            ("cid", "/in", {"/in/", "/in/deep/"}),
            ("eve", "/home/", {"/home/", "/home/eve/"}),
        ):
            with self.subTest(f"{user} {path}"):
                answer = self.ask(user, Asked("PROPFIND", path, (207,) * 5, ("Depth: 1",)))
                found = {one.href for one in responses(answer.body)}
                # home/USER is on the way to what may be read, whether or not it is there.
                self.assertEqual(found - {"/home/"}, names - {"/home/"})

    def test_a_zip_has_what_the_user_may_read(self) -> None:
        for asked in ZIPS:
            folder = asked.path.removeprefix("/-/zip/")
            for user, status in zip(USERS, asked.statuses, strict=True):
                with self.subTest(f"{asked.path} {user}"):
                    answer = self.ask(user, asked)
                    self.assertEqual(answer.status, status)
                    if status == 200:
                        self.check_zip(answer.body, user, folder)

    def check_zip(self, archive: bytes, user: str, folder: str) -> None:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            names = {folder + name for name in opened.namelist()}
            files = {name for name in names if not name.endswith("/")}
            for name in files:
                self.assertEqual(opened.read(name.removeprefix(folder)), name.encode())
        self.assertEqual(files, {name for name in READABLE[user] if name.startswith(folder)})
        if user not in ("amy", "bob", "cid"):
            self.assertNotIn("in/deep/pay/", names)

    def test_what_may_not_be_read_looks_as_if_it_were_not_there(self) -> None:
        for method, fields in (
            ("PROPFIND", ("Depth: 0",)),
            ("PROPFIND", ("Depth: 1",)),
            ("PROPPATCH", ()),
            ("LOCK", ()),
            ("UNLOCK", (FREE,)),
            ("MOVE", to("/in/new")),
            ("COPY", to("/in/new")),
            ("COPY", (*to("/in/file"), "Overwrite: F")),
            ("DELETE", ("If-Match: *",)),
        ):
            with self.subTest(f"{method} {fields}"):
                self.assert_same(
                    *(
                        Asked(method, f"/in/deep/pay/{name}", (404,) * 5, fields)
                        for name in ("file", "away")
                    )
                )
        for method in ("MOVE", "COPY"):
            with self.subTest(f"{method} there"):
                self.assert_same(
                    *(
                        Asked(
                            method,
                            "/in/file",
                            (404,) * 5,
                            (*to(f"/in/deep/pay/{name}"), "Overwrite: F"),
                        )
                        for name in ("file", "away")
                    )
                )

    def assert_same(self, *asked: Asked) -> None:
        """Both answers are 404, and tell nothing more."""
        there, away = (self.ask("dan", one) for one in asked)
        self.assertEqual(there.status, 404)
        del there.fields["date"], away.fields["date"]
        self.assertEqual(there, away)
