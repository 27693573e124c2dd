"""loadgen: which files and names it asks for, and what it does with what it gets."""

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import Peer
from programs import run


class LoadgenFilesTest(LoadgenScene):
    def test_unique_gives_every_thread_numbers_of_its_own_in_order(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        self.result(
            *GET, "--file", "f%d", "--unique", 4, "--threads", 3, "--requests", 5, server=peer
        )
        for thread in range(3):
            mine = [b"f%d\n" % number for number in range(thread * 4 + 1, thread * 4 + 5)]
            self.assertEqual([line for line in peer.lines if line in mine], [*mine, mine[0]])

    def test_unique_wraps(self) -> None:
        self.serve()
        result = self.result(
            *GET, "--file", "file%d", "--unique", 2, "--threads", 2, "--requests", 5
        )
        self.assertEqual(
            result["bytes"], sum(1000 * number for number in (1, 2, 1, 2, 1, 3, 4, 3, 4, 3))
        )

    def test_once_ends_the_run_before_a_file_is_asked_for_twice(self) -> None:
        for warmup in ((), ("--warmup", 0.01)):
            peer = self.scene.keep(Peer(one_byte_file))
            flags = ("--unique", 500, "--threads", 3, "--seconds", 60, "--once", *warmup)
            result = self.result(*GET, "--file", "f%d", *flags, server=peer)
            names = [line for line in peer.lines if line != GET_LINE]
            self.assertEqual(len(set(names)), len(names))
            self.assertGreaterEqual(len(names), 500)
            self.assertLess(result["elapsed_s"], 60)

    def test_save_keeps_whole_files_under_their_names(self) -> None:
        self.serve()
        self.scene.write("deep/file7", b"7" * 300_000)
        kept = self.scene.folder / "kept"
        for flags in (
            ("--file", "file%d", "--unique", 3, "--threads", 2, "--requests", 5),
            ("--file", "deep/file7", "--requests", 2),
        ):
            self.assertEqual(self.errors(self.result(*GET, *flags, "--save", kept)), {})
        names = sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file())
        self.assertEqual(names, ["deep/file7", *(f"file{number}" for number in range(1, 7))])
        for name in names:
            self.assertEqual(
                (kept / name).read_bytes(), (self.scene.root / name).read_bytes(), name
            )

    def test_an_incomplete_file_is_not_saved(self) -> None:
        peer = self.scene.keep(Peer(lambda line, _: b"OK\n" if line == GET_LINE else b"OK 5\nx"))
        kept = self.scene.folder / "kept"
        flags = ("--file", "a", "--requests", 1, "--timeout", 0.3, "--save", kept)
        result = self.result(*GET, *flags, server=peer, status=1)
        self.assertEqual(self.errors(result), {"timeout": 1})
        self.assertEqual(list(kept.iterdir()), [])

    def test_a_file_that_cannot_be_saved_ends_the_run_in_one_line(self) -> None:
        self.serve()
        kept = self.scene.folder / "kept"
        (kept / "file1").mkdir(parents=True)
        for folder, where in (
            (kept, kept / "file1"),
            (self.scene.root / "file1", self.scene.root / "file1"),
        ):
            ended = run(
                "loadgen", *GET, "--file", "file1", "--save", folder, "--server", self.fileserver
            )
            self.assertEqual(ended.returncode, 1)
            self.assertRegex(ended.stderr, rf"loadgen: --save: {where}: .+\n$")

    def test_verify_accepts_equal_copies_and_reports_different_ones(self) -> None:
        self.serve()
        copies = self.scene.folder / "copies"
        copies.mkdir()
        for name in ("file1", "file2", "file3", "file4"):
            (copies / name).write_bytes((self.scene.root / name).read_bytes())
        files = ("--file", "file%d", "--unique", 4, "--requests", 4)
        flags = (*GET, *files, "--verify", "--verify-root", copies)
        self.assertEqual(self.errors(self.result(*flags)), {})
        changed = bytearray((copies / "file2").read_bytes())
        changed[-1] ^= 1
        (copies / "file2").write_bytes(changed)
        result = self.result(*flags, status=1)
        self.assertEqual((self.errors(result), result["requests"]), ({"mismatch": 1}, 3))
        self.assertEqual(result["bytes"], 8000)
        (copies / "file3").write_bytes(b"short")
        self.assertEqual(self.errors(self.result(*flags, status=1)), {"mismatch": 2})

    def test_new_makes_names_that_no_other_run_makes(self) -> None:
        self.serve()
        for _ in range(3):
            result = self.result("new", "--threads", 4, "--requests", 10)
            self.assertEqual(
                (result["requests"], result["bytes"], result["request"]), (40, 0, "new")
            )
            self.assertEqual(self.errors(result), {})
