"""Chromium: files and folders are uploaded by the page, and what goes wrong is said."""

import filecmp
import os
from pathlib import Path

import shared_path  # noqa: F401
from browser import PROGRAM
from judge_scene import needs
from page_scene import FAILED, SEEN, STATUS, PageTest
from processes import resident_bytes
from scene import for_each
from telemetry import FLAG, scrape
from waiting import LONG_S, eventually

FILES = "input[type=file]:not([webkitdirectory])"
FOLDER = "input[webkitdirectory]"
NO_ANSWER = "The server does not answer. Check your network, or try again later."
ODD = "a b+c%&'#?.txt"
_A_MB = 1 << 20
_A_GB = 1 << 30


@needs(PROGRAM)
class PageUploadsTest(PageTest):
    server_flags = ("--uploads", "folder", "--max-upload", "40M")

    def test_chosen_files_are_stored_as_they_are_and_listed(self) -> None:
        self.open()
        content = os.urandom(3 * _A_MB)
        self.browser.choose(FILES, self.write(ODD, content), self.write("caf\u00e9", b""))
        self.until(STATUS, "2 uploaded.")
        self.assertEqual((self.folder / ODD).read_bytes(), content)
        self.assertEqual((self.folder / "caf\u00e9").read_bytes(), b"")
        self.assertEqual(self.value(SEEN), [ODD, "caf\u00e9"])

    def test_a_chosen_folder_comes_with_its_folders(self) -> None:
        self.open()
        self.write("top/a/b/file", b"deep")
        self.write("top/side", b"flat")
        self.browser.choose(FOLDER, self.work / "top")
        self.until(STATUS, "2 uploaded.")
        self.assertEqual((self.folder / "top/a/b/file").read_bytes(), b"deep")
        self.assertEqual((self.folder / "top/side").read_bytes(), b"flat")
        self.assertEqual(self.value(SEEN), ["top"])

    def test_dropped_files_and_folders_come_and_empty_folders_too(self) -> None:
        self.open("top/")
        self.write("top/a/file", b"deep")
        (self.work / "top/empty").mkdir()
        self.browser.drop(self.work / "top", self.write("single", b"flat"))
        self.until(STATUS, "5 uploaded.")
        self.assertEqual((self.folder / "top/a/file").read_bytes(), b"deep")
        self.assertTrue((self.folder / "top/empty").is_dir())
        self.assertEqual((self.folder / "single").read_bytes(), b"flat")

    @for_each((answer, is_listed) for answer in ("Replace", "Skip") for is_listed in (True, False))
    def test_a_name_that_is_there_is_replaced_only_when_told(self, case: tuple[str, bool]) -> None:
        answer, is_listed = case
        (self.folder / "taken").unlink(missing_ok=True)
        self.open(*(("taken",) if is_listed else ()))
        (self.folder / "taken").write_bytes(b"old")
        self.browser.choose(FILES, self.write("taken", b"new" * _A_MB))
        self.until("!!document.querySelector('dialog[open]')")
        self.assertEqual((self.folder / "taken").read_bytes(), b"old")
        self.press(answer)
        self.until(STATUS, "1 uploaded." if answer == "Replace" else "Nothing was uploaded.")
        wanted = b"new" * _A_MB if answer == "Replace" else b"old"
        self.assertEqual((self.folder / "taken").read_bytes(), wanted)

    def test_one_answer_holds_for_all_that_follow(self) -> None:
        names = [f"taken-{i}" for i in range(5)]
        self.open(*names)
        self.browser.choose(FILES, *(self.write(name, b"new") for name in names))
        self.until("!!document.querySelector('dialog[open]')")
        self.value("document.querySelector('dialog input[type=checkbox]').click()")
        self.press("Replace")
        self.until(STATUS, "5 uploaded.")
        self.assertEqual({(self.folder / name).read_bytes() for name in names}, {b"new"})

    def test_what_is_too_large_is_named_and_the_others_go_on(self) -> None:
        self.open()
        large = self.write("large")
        os.truncate(large, 41 * _A_MB)
        self.browser.choose(FILES, large, self.write("small"))
        self.until(STATUS, "1 uploaded, 1 failed.")
        self.assertEqual(self.value(FAILED), ["The file is larger than the server takes."])
        self.assertEqual(self.value(SEEN), ["small"])
        self.press("Dismiss")
        self.assertTrue(self.value("document.querySelector('.uploads').hidden"))

    def test_one_that_failed_can_be_tried_again(self) -> None:
        self.open()
        self.browser.set_network(is_gone=True)
        self.browser.choose(FILES, *(self.write(f"file-{i}") for i in range(4)))
        self.until(FAILED, [NO_ANSWER] * 2)
        self.until(
            "document.querySelector('.summary p').textContent.endsWith('2 wait until you retry')"
        )
        self.picture("failed")
        self.browser.set_network(is_gone=False)
        self.press("Retry all")
        self.until(STATUS, "4 uploaded.")
        self.assertEqual(self.value(SEEN), [f"file-{i}" for i in range(4)])

    def test_one_is_cancelled_while_its_progress_and_speed_are_shown(self) -> None:
        self.open()
        self.browser.set_network(bytes_a_s=_A_MB)
        slow = self.write("slow")
        os.truncate(slow, 30 * _A_MB)
        self.browser.choose(FILES, slow, self.write("quick"))
        self.until(
            "/[1-9].* of 30 MiB, .*B\\/s$/.test(document.querySelector('.detail').textContent)"
        )
        self.assertGreater(self.value("document.querySelector('progress').value"), 0)
        self.picture("uploading")
        self.press("Cancel")
        self.browser.set_network()
        self.until(STATUS, "1 uploaded.")
        self.assertEqual(self.value(SEEN), ["quick"])
        eventually(lambda: os.listdir(self.folder) == ["quick"], "nothing of it stays")


@needs(PROGRAM)
class LargeUploadTest(PageTest):
    """These come in parts of 32 MiB."""

    server_flags = ("--uploads", "folder", "--files", "disk", *FLAG)

    def kept(self) -> list[str]:
        """Large files of uploads that are not finished."""
        parts = self.scene.root / ".turnstile-upload-parts"
        return [path.name for path in parts.rglob("*") if path.stat().st_size > _A_MB]

    def received(self) -> float:
        return scrape(self.server).value("turnstile_received_bytes_total")

    def begin(self, size: int) -> Path:
        large = self.write("large", os.urandom(_A_MB))
        os.truncate(large, size)
        os.utime(large, (1_700_000_000,) * 2)
        self.browser.set_network(bytes_a_s=20 * _A_MB)
        self.browser.choose(FILES, large)
        self.until("document.querySelector('progress').value > 0.1")
        return large

    def test_a_large_file_goes_on_after_a_break_from_what_has_come(self) -> None:
        self.open()
        before = self.received()
        large = self.begin(100 * _A_MB)
        self.until("document.querySelector('progress').value > 0.4")
        self.browser.set_network(is_gone=True)
        words = "The connection broke. Trying again\u2026"
        self.until("document.querySelector('.detail').textContent", words)
        self.browser.set_network()
        self.until(STATUS, "1 uploaded.")
        stored = self.folder / "large"
        self.assertEqual(int(stored.stat().st_mtime), 1_700_000_000)
        self.assertTrue(filecmp.cmp(stored, large, shallow=False))
        self.assertLess(self.received() - before, 105 * _A_MB)

    def test_a_large_file_that_is_cancelled_leaves_nothing(self) -> None:
        self.open()
        self.begin(100 * _A_MB)
        self.press("Cancel")
        self.until(STATUS, "Nothing was uploaded.")
        eventually(lambda: self.kept() == [], "nothing of it stays")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_large_file_that_is_there_is_replaced_after_a_question(self) -> None:
        self.open()
        self.begin(40 * _A_MB)
        (self.folder / "large").write_bytes(b"somebody else's")
        self.browser.set_network()
        self.until("!!document.querySelector('dialog[open]')")
        self.assertEqual((self.folder / "large").read_bytes(), b"somebody else's")
        self.press("Replace")
        self.until(STATUS, "1 uploaded.")
        self.assertEqual((self.folder / "large").stat().st_size, 40 * _A_MB)
        eventually(lambda: self.kept() == [], "nothing of the first one stays")

    def test_a_file_of_a_gigabyte_passes_without_being_in_memory(self) -> None:
        self.open()
        large = self.write("large", os.urandom(_A_MB))
        os.truncate(large, _A_GB)
        before, most = self.browser.resident_bytes(), 0
        server_before = resident_bytes(self.server.pid)
        self.browser.choose(FILES, large)

        def is_over() -> bool:
            nonlocal most
            most = max(most, self.browser.resident_bytes())
            return bool(self.value(f"{STATUS} === '1 uploaded.'"))

        eventually(is_over, "the upload is over", 20 * LONG_S)
        self.assertEqual((self.folder / "large").stat().st_size, _A_GB)
        server_growth = resident_bytes(self.server.pid, "VmHWM") - server_before
        self.assertLess(server_growth, 16 * _A_MB)
        self.assertLess(most - before, 128 * _A_MB)
