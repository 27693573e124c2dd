"""What locks and If keep from being changed by --http-listen."""

import os

from dav_client import lock, lock_info, unlock
from http_client import request
from lock_scene import FREE, LocksScene
from prefetch_scene import SOON_S
from scene import with_loops
from upload_scene import USER
from waiting import eventually

# The names in dir/ change, or that of dir/.
_CHANGES_OF_NAMES = (
    ("PUT", "dir/new"),
    ("DELETE", "dir/f"),
    ("MKCOL", "dir/new"),
    ("DELETE", "dir"),
)


@with_loops
class LockedTest(LocksScene):
    def check_locked(self, *further: tuple[str, str]) -> None:
        """dir/ is locked. These methods and names are refused, beside the changes of its names."""
        for method, name in (*_CHANGES_OF_NAMES, *further):
            with self.subTest((method, name)):
                self.assert_locked(self.ask(method, name), "dir/")

    def test_a_change_of_a_locked_file_needs_the_token_of_its_user(self) -> None:
        token = self.lock("a")
        for method in ("PUT", "DELETE"):
            with self.subTest(method):
                self.assert_locked(self.ask(method, "a"), "a")
                answer = self.bob.ask(self.at("a"), f"If: (<{token}>)", method=method)
                self.assert_locked(answer, "a")
        self.assertEqual(self.read("a"), b"old")
        # Written a moment ago, beside the server: it may have seen the file while it was empty.
        eventually(lambda: self.amy.ask(self.at("a")).body == b"old", "what it has", SOON_S)
        self.assertEqual(self.put("a", f"If: (<{token}>)").status, 204)
        self.assertEqual(self.put("a", f"If: <{self.at('a')}> (<{token}>)").status, 204)
        self.assertEqual(
            self.put("a", f"If: <https://localhost{self.at('a')}> (<{token}>)").status, 204
        )
        self.assertEqual(self.put("b").status, 201)

    def test_a_refusal_spares_the_body(self) -> None:
        self.lock("a")
        client = self.http(*USER)
        fields = (*client._credentials, "Content-Length: 5", "Expect: 100-continue")
        client.send(request(self.at("a"), *fields, method="PUT"))
        answer = client.answer("PUT")
        self.assertEqual((answer.status, answer.closes()), (423, True))

    def test_a_lock_that_is_made_while_the_body_comes(self) -> None:
        client = self.http(*USER)
        fields = (*client._credentials, "Content-Length: 3", "Expect: 100-continue")
        for name in ("a", "new"):
            with self.subTest(name):
                client.send(request(self.at(name), *fields, method="PUT"))
                self.assertEqual(client.interim(), 100)
                self.assertIn(lock(self.bob, self.at(name)).status, (200, 201))
                client.send(b"new")
                self.assert_locked(client.answer("PUT"), name)
        self.assertEqual((self.read("a"), self.read("new")), (b"old", b""))

    def test_a_lock_of_a_folder_is_one_of_all_below_it(self) -> None:
        self.write("dir/f", b"old")
        self.write("dir/sub/f", b"old")
        token = self.lock("dir/")
        own = f"If: (<{token}>)"
        self.check_locked(("PUT", "dir/sub/f"), ("DELETE", "dir/sub/f"), ("MKCOL", "dir/sub/new"))
        self.assertEqual(self.put("dir/sub/f", own).status, 204)
        self.assertEqual(self.ask("MKCOL", "dir/new", own).status, 201)
        self.assertEqual(unlock(self.amy, self.at("dir/sub/f"), token).status, 204)
        self.assertEqual(self.put("dir/sub/f").status, 204)

    def test_a_lock_of_a_folder_alone_keeps_its_names(self) -> None:
        self.write("dir/f", b"old")
        self.write("dir/sub/f", b"old")
        token = self.lock("dir/", "Depth: 0")
        own = f"If: <{self.at('dir/')}> (<{token}>)"
        self.check_locked()
        self.assert_locked(lock(self.amy, self.at("dir/new")), "dir/")
        self.assertEqual(self.put("dir/f").status, 204)
        self.assertEqual(self.put("dir/sub/new").status, 201)
        self.assertEqual(self.put("dir/new", own).status, 201)
        self.assertEqual(self.ask("DELETE", "dir/f", own).status, 204)
        self.assertEqual(self.put("dir/new2", f"If: (<{token}>)").status, 412)

    def test_a_locked_name_keeps_its_folder(self) -> None:
        self.write("dir/f", b"old")
        token = self.lock("dir/f")
        self.assert_locked(self.ask("DELETE", "dir"), "dir/f")
        own = f"If: <{self.at('dir/f')}> (<{token}>)"
        self.assertEqual(self.ask("DELETE", "dir", own).status, 409)  # it is not empty

    def test_a_lock_goes_with_the_file(self) -> None:
        token = self.lock("a")
        self.assertEqual(self.ask("DELETE", "a", f"If: (<{token}>)").status, 204)
        self.assertEqual(self.put("a").status, 201)
        self.assertEqual(unlock(self.amy, self.at("a"), token).status, 409)

    def test_a_move_needs_the_locks_of_both_ends_and_takes_none_along(self) -> None:
        self.write("b", b"other")
        source, target = self.lock("a"), self.lock("b")
        to = f"Destination: {self.at('b')}"
        self.assert_locked(self.ask("MOVE", "a", to), "a")
        self.assert_locked(self.ask("MOVE", "a", to, f"If: (<{source}>)"), "b")
        self.assert_locked(self.ask("COPY", "a", to), "b")
        both = f"If: <{self.at('a')}> (<{source}>) <{self.at('b')}> (<{target}>)"
        self.assertEqual(self.ask("MOVE", "a", to, both).status, 204)
        self.assertEqual(self.put("a").status, 201)
        self.assert_locked(self.put("b"), "b")
        self.assertEqual(unlock(self.amy, self.at("a"), source).status, 409)
        self.assertEqual(unlock(self.amy, self.at("b"), target).status, 204)

    def test_locks_go_with_a_folder_that_is_replaced_moved_or_deleted(self) -> None:
        for method, source, gone in (
            ("MOVE", "new", "dir"),
            ("COPY", "new", "dir"),
            ("MOVE", "dir", "dir"),
            ("DELETE", "dir", "dir"),
        ):
            with self.subTest(method, source=source):
                self.write("dir/f", b"old")
                self.write("dir/sub/f", b"old")
                self.write("new/g", b"new")
                names = [f"{gone}/", f"{gone}/f", f"{gone}/sub/f"]
                tokens = [self.lock(name, "Depth: 0") for name in names]
                tagged = zip(names, tokens, strict=True)
                own = "If: " + " ".join(f"<{self.at(name)}> (<{token}>)" for name, token in tagged)
                to = self.at("dir" if source == "new" else "moved")
                fields = (own, f"Destination: {to}") if method != "DELETE" else (own,)
                name = source if method != "DELETE" else "dir/"
                self.assertIn(self.ask(method, name, *fields).status, (201, 204))
                self.write("dir/f", b"another")
                self.write("dir/sub/f", b"another")
                for name, token in zip(names, tokens, strict=True):
                    self.assertEqual(unlock(self.amy, self.at(name), token).status, 409)
                    moved = self.at(name.replace("dir", "moved", 1))
                    self.assertEqual(unlock(self.amy, moved, token).status, 409)
                    self.assertNotIn(b"activelock", self.ask("PROPFIND", name, "Depth: 0").body)
                self.assertEqual(self.put("dir/f").status, 204)
                self.assertEqual(self.put("dir/sub/new").status, 201)
                self.assertEqual(self.ask("DELETE", "dir/").status, 204)

    def test_a_delete_that_fails_leaves_the_lock(self) -> None:
        self.write("dir/f", b"old")
        token = self.lock("dir/")
        self.assertEqual(self.ask("DELETE", "dir", f"If: (<{token}>)").status, 409)
        self.assertEqual(self.put("dir/f").status, 423)

    def test_a_lock_holds_by_another_way_too(self) -> None:
        self.write("dir/f", b"old")
        os.symlink("dir", self.scene.root / self.folder / "link")
        token = self.lock("link/f")
        for name in ("dir/f", "link/f"):
            self.assert_locked(self.put(name), "dir/f")
            self.assertEqual(self.put(name, f"If: (<{token}>)").status, 204)
        self.assertEqual(unlock(self.amy, self.at("dir/f"), token).status, 204)

    def test_locks_are_for_http(self) -> None:
        self.lock("a")
        self.write("a", b"by another program")
        self.assertEqual(self.read("a"), b"by another program")
        self.assertEqual(self.amy.ask(self.at("a")).status, 200)

    def test_an_if_that_does_not_hold(self) -> None:
        token = self.lock("a")
        tag = self.amy.ask(self.at("a")).fields["etag"]
        here = self.at("a")
        for value, status in (
            (f"(<{token}>)", 204),
            (f"(<{token}> [{tag}])", 412),  # it has changed
            (f'(<{token}> ["x"])', 412),
            (f"(Not <{token}>)", 412),
            (f"(<{FREE}>)", 412),
            (f"(<{FREE}>) (<{token}>)", 204),
            (f"(<{token}>) (Not <DAV:no-lock>)", 204),
            (f"(Not <{FREE}>)", 423),
            (f"(Not <{FREE}> <{token}>)", 204),
            (f"<{here}> (<{token}>) </other> (<{FREE}>)", 204),
            (f"</other> (<{token}>)", 412),
            (f"</other> (Not <{token}>)", 204),
            (f"<http://localhost/%zz> (<{token}>)", 412),
            ("(Not <DAV:no-lock>)", 423),
        ):
            with self.subTest(value):
                self.assertEqual(self.put("a", f"If: {value}").status, status)

    def test_tags(self) -> None:
        tag = self.put("a").fields["etag"]
        self.assertEqual(self.put("a", 'If: (["x"])').status, 412)
        self.assertEqual(self.put("a", f"If: ([W/{tag}])").status, 412)
        self.assertEqual(self.put("a", f'If: (["x"]) (Not ["x"] [{tag}])').status, 204)
        self.assertEqual(self.put("none", f"If: <{self.at('a')}> ([{tag}])").status, 412)
        tag = self.amy.ask(self.at("a")).fields["etag"]
        self.assertEqual(self.put("other", f"If: <{self.at('a')}> ([{tag}])").status, 201)
        for method in ("GET", "DELETE", "MKCOL"):
            self.assertEqual(self.ask(method, "other", 'If: (["x"])').status, 412)

    def test_a_malformed_if_is_told(self) -> None:
        for value in ("()", "<a>", f"({FREE})", "(<a>", "x", "(<urn:a>) (", 201 * "(<urn:a>)"):
            with self.subTest(value[:20]):
                self.assertEqual(self.put("a", f"If: {value}").status, 400)
        twice = (f"If: (Not <{FREE}>)", f"If: (Not <{FREE}>)")
        self.assertEqual(self.put("a", *twice).status, 400)
        self.assertEqual(self.put("a", f"If: {200 * '(Not <urn:a>)'}").status, 204)
        self.assertEqual(self.read("a"), b"new")

    def test_an_if_of_any_length_is_answered(self) -> None:
        """if_header_test.cpp has what is malformed."""
        many = "<urn:a> "
        to = f"Destination: {self.at('c')}"
        for method in ("MOVE", "COPY", "LOCK", "DELETE", "PUT"):
            body = {"LOCK": lock_info(), "PUT": b"new"}.get(method, b"")
            for status, value in (
                (412, f"({200 * many})"),
                (400, f"({201 * many})"),
                (400, 5000 * "("),
                (400, f"<{6000 * 'x'}"),
                (431, f"({3000 * many})"),
            ):
                with self.subTest(method, value=value[:20]):
                    answer = self.ask(method, "a", to, f"If: {value}", body=body)
                    self.assertEqual(answer.status, status)
                    names = os.listdir(self.scene.root / self.folder)
                    self.assertEqual((self.read("a"), names), (b"old", ["a"]))
