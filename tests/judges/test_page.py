"""Chromium: the page of a folder is sorted, searched and changed, by mouse and by keyboard."""

import functools
import os
from collections.abc import Callable

import shared_path  # noqa: F401
from browser import PROGRAM
from judge_scene import USER, needs
from page_scene import DIALOG, SEEN, STATUS, PageTest
from scene import for_each
from test_page_uploads import FILES

NAMES = ("b10", "b9", "Zoo/", "A", "apple/", ".hidden")
DELETE = "[...document.querySelectorAll('dialog button')].find(one => one.textContent[0] === 'D')"
FOCUSED = "document.activeElement.textContent"
LABEL = (
    "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    " || document.activeElement.closest('label')?.textContent"
)
SORTED = (
    "[...document.querySelectorAll('th')].map(one => one.getAttribute('aria-sort'))"
    ".map(one => one && one[0]).slice(0, 3)"
)
SUMMER_S = 1_782_865_800  # 2026-07-01 00:30 of UTC
WINTER_S = 1_767_223_800  # 2025-12-31 23:30
MANY = 10_000
# The page has been painted, and the script has run.
PAINTED = "new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))"


@needs(PROGRAM)
class PageOfFolderTest(PageTest):
    def test_hidden_names_are_hidden_until_asked_for(self) -> None:
        self.open(*NAMES)
        self.assertEqual(self.value(SEEN), ["apple", "Zoo", "A", "b9", "b10"])
        self.value("document.querySelector('.tools input[type=checkbox]').click()")
        self.assertEqual(self.value(SEEN), ["apple", "Zoo", ".hidden", "A", "b9", "b10"])

    def test_the_order_that_was_chosen_holds_in_the_next_folder_too(self) -> None:
        self.open(*NAMES)
        self.press("Name")
        chosen = ["Zoo", "apple", "b10", "b9", "A"]
        self.assertEqual(self.value(SEEN), chosen)
        self.browser.goes(lambda: self.browser.click("Zoo/"))
        self.assertEqual(self.value(SORTED)[0], "d")
        self.browser.goes(lambda: self.browser.click("../"))
        self.assertEqual(self.value(SEEN), chosen)

    def test_a_click_on_a_heading_sorts_folders_first_and_another_one_turns_round(self) -> None:
        self.open(*NAMES)
        for size, name in enumerate(("b9", "A", "b10")):
            (self.folder / name).write_bytes(b"x" * 600 * size)
        self.browser.go(self.value("location.href"))
        for heading, up, down in (
            ("Size", "apple Zoo b9 A b10", "apple Zoo b10 A b9"),
            ("Name", "apple Zoo A b9 b10", "Zoo apple b10 b9 A"),
        ):
            self.press(heading)
            self.assertEqual(self.value(SEEN), up.split())
            at = ["Name", "Size"].index(heading)
            self.assertEqual(self.value(SORTED)[at], "a")
            self.press(heading)
            self.assertEqual(self.value(SEEN), down.split())
            self.assertEqual(self.value(SORTED), ["d" if i == at else None for i in range(3)])

    def test_the_time_sorts_by_seconds(self) -> None:
        self.open()
        for second, name in enumerate(("c", "a", "b")):
            (self.folder / name).touch()
            os.utime(self.folder / name, (1_000_000_000 + second,) * 2)
        self.browser.go(self.value("location.href"))
        self.press("Modified")
        self.assertEqual(self.value(SEEN), ["c", "a", "b"])

    @for_each(
        (
            ("Europe/Berlin", "2026-07-01 02:30", "2026-01-01 00:30"),
            ("America/New_York", "2026-06-30 20:30", "2025-12-31 18:30"),
        )
    )
    def test_times_are_those_of_the_reader(self, case: tuple[str, str, str]) -> None:
        zone, *wanted = case
        self.open("a", "b")
        os.utime(self.folder / "a", (SUMMER_S,) * 2)
        os.utime(self.folder / "b", (WINTER_S,) * 2)
        self.browser.call("Emulation.setTimezoneOverride", timezoneId=zone)
        self.browser.go(self.value("location.href"))
        times = "[...document.querySelectorAll('td.time[data-n]')].map(one => one.textContent)"
        self.assertEqual(self.value(times), wanted)
        self.assertEqual(self.value("document.querySelector('th.time').title"), zone)
        self.press("New folder")
        self.browser.type("c")
        self.browser.press("Enter")
        self.until(STATUS, "The folder c is made.")
        self.assertEqual(self.value(times)[1:], wanted)
        (self.folder / "c").rmdir()

    def test_the_search_finds_parts_of_names_in_any_case(self) -> None:
        self.open(*NAMES, "caf\u00e9", "<b>")
        self.value("document.querySelector('input[type=search]').focus()")
        self.browser.type("A")
        self.assertEqual(self.value(SEEN), ["apple", "A", "caf\u00e9"])
        self.assertEqual(self.value(STATUS), "3 of 8 names have \u201cA\u201d.")
        self.browser.type("FE\u0301")  # an accent of its own
        self.assertEqual(self.value(SEEN), ["caf\u00e9"])
        self.browser.type("x")
        self.assertEqual(self.value(SEEN), [])

    def test_rows_off_the_screen_are_sorted_and_searched_and_have_a_height(self) -> None:
        names = [f"name-{number:03}" for number in range(350)]
        self.open(*names)
        self.assertEqual(self.value(SEEN), names)
        self.assert_rows_have_height(350)
        self.press("Name")
        self.assertEqual(self.value(SEEN), names[::-1])
        self.value("document.querySelector('input[type=search]').focus()")
        for text in ("9", "99"):
            self.browser.type("9")
            found = [name for name in names if text in name]
            self.assertEqual(self.value(SEEN), found[::-1])
            self.assert_rows_have_height(len(found))
            self.press("Name")
            self.assertEqual(self.value(SEEN), found)
            self.assert_rows_have_height(len(found))
            self.press("Name")
            self.value("document.querySelector('input[type=search]').focus()")

    def test_nothing_is_left_of_the_height_of_rows_that_a_search_hides(self) -> None:
        self.open(*(f"name-{number:03}" for number in range(350)))
        for at_px in range(0, 350 * 40, 300):  # all of them have been on the screen
            self.value(f"scrollTo(0, {at_px})")
            self.browser.call("Runtime.evaluate", expression=PAINTED, awaitPromise=True)
        self.value("document.querySelector('input[type=search]').focus()")
        self.browser.type("-34")
        self.assertEqual(self.value(f"{SEEN}.length"), 10)
        groups = "[...document.querySelector('table').tBodies]"
        self.assertEqual(self.value(f"{groups}.length"), 4)
        # The one with these names, and that of the link that leads up.
        self.assertEqual(self.value(f"{groups}.filter(one => one.offsetHeight > 0).length"), 2)

    def assert_rows_have_height(self, rows: int) -> None:
        """Within half a row, as the browser only estimates what it does not show."""
        row, table = self.value(
            "[[...document.querySelectorAll('tr')].filter(row => row.checkVisibility())[1],"
            " document.querySelector('table')].map(one => one.getBoundingClientRect().height)"
        )
        self.assertLess(abs(table - (rows + 2) * row), 0.5 * row)

    def change(self, name: str) -> None:
        self.value(f"document.querySelector('[aria-label=\"Rename or delete {name}\"]').click()")
        self.until(DIALOG)

    def test_a_new_folder_is_made_and_the_keyboard_goes_to_it(self) -> None:
        self.open("b")
        self.press("New folder")
        self.browser.type("a b%?")
        self.browser.press("Enter")
        self.until(SEEN, ["a b%?", "b"])
        self.until(FOCUSED, "a b%?/")
        self.assertTrue((self.folder / "a b%?").is_dir())

    def test_a_folder_of_a_name_that_is_there_is_refused(self) -> None:
        self.open("taken")
        self.press("New folder")
        self.browser.type("taken")
        self.browser.press("Enter")
        self.until(STATUS, "taken: There is something of this name already.")

    @for_each(("Delete", "Cancel", "Escape"))
    def test_a_file_is_deleted_after_a_question_only(self, answer: str) -> None:
        self.open("file", "other")
        self.change("file")
        self.press("Delete\u2026")
        self.until("document.querySelector('dialog h2').textContent", "Delete file")
        if answer == "Escape":
            self.browser.press("Escape")
        else:
            self.press(answer)
        self.until(DIALOG, False)
        left = ["other"] if answer == "Delete" else ["file", "other"]
        self.until(SEEN, left)
        self.assertEqual((self.folder / "file").exists(), answer != "Delete")

    def test_an_empty_folder_is_deleted(self) -> None:
        self.open("folder/", "other")
        self.change("folder")
        self.press("Delete\u2026")
        self.press("Delete")
        self.until(SEEN, ["other"])
        self.assertFalse((self.folder / "folder").exists())

    @for_each((("old", "n\u00e9w %?#.txt"), ("folder/", "box")))
    def test_a_name_is_changed(self, case: tuple[str, str]) -> None:
        old, new = case
        self.open(old)
        self.change(old.rstrip("/"))
        self.browser.type(new)
        self.browser.press("Enter")
        self.until(SEEN, [new])
        self.assertEqual([path.name for path in self.folder.iterdir()], [new])
        (self.folder / new).rename(self.work / new)

    @for_each(
        (
            ("report.v1.docx", "1.docx"),
            (".profile", "2"),
            ("a.d/", "3"),
            ("plain", "4"),
            ("a...", "5"),
        )
    )
    def test_what_is_typed_leaves_the_ending_of_a_file(self, case: tuple[str, str]) -> None:
        old, new = case
        self.open(old)
        self.change(old.rstrip("/"))
        self.browser.type(new[0])
        self.browser.press("Enter")
        self.until(STATUS, f"Renamed to {new}.")

    def test_a_name_that_is_taken_is_not_given_twice(self) -> None:
        self.open("old", "taken")
        (self.folder / "taken").write_bytes(b"kept")
        self.change("old")
        self.browser.type("taken")
        self.browser.press("Enter")
        self.until(STATUS, "old: There is something of this name already.")
        self.assertEqual((self.folder / "taken").read_bytes(), b"kept")

    def test_what_cannot_be_a_name_is_not_asked_for(self) -> None:
        self.open("old")
        for name in ("a/b", "..", "a\\b"):
            self.change("old")
            self.browser.type(name)
            self.browser.press("Enter")
            self.until(STATUS, "This cannot be a name.")

    def go_wrong(self) -> None:
        """Leaves a red line below the tools."""
        self.change("old")
        self.browser.type("a/b")
        self.browser.press("Enter")
        self.until(STATUS, "This cannot be a name.")
        self.until(DIALOG, False)

    def test_what_went_wrong_is_not_shown_beside_the_next_action(self) -> None:
        self.open("old")
        self.value("document.querySelector('[aria-label=\"Select old\"]').click()")
        buttons = ("New folder", "Links", "Move or copy selected\u2026", "Delete selected\u2026")
        begins: list[Callable[[], None]] = [functools.partial(self.change, "old")]
        begins += [functools.partial(self.press, text) for text in buttons]
        for begin in begins:
            self.go_wrong()
            begin()
            self.until(DIALOG)
            self.assertEqual(self.value(STATUS), "", begin)
            self.browser.press("Escape")
            self.until(DIALOG, False)

    def test_what_went_wrong_is_not_shown_beside_an_upload(self) -> None:
        self.open("old")
        self.go_wrong()
        self.browser.set_network(bytes_a_s=1 << 20)
        self.addCleanup(self.browser.set_network)
        self.browser.choose(FILES, self.write("slow", bytes(30 << 20)))
        self.until("document.querySelector('progress')?.value > 0")
        self.assertEqual(self.value(STATUS), "")
        self.press("Cancel")
        self.until(STATUS, "Nothing was uploaded.")

    def test_the_tab_key_goes_through_the_tools_the_headings_and_the_rows(self) -> None:
        self.open("b", ".a")
        visited = []
        for _ in range(20):
            self.browser.press("Tab")
            visited.append(self.value(LABEL))
        self.assertEqual(
            visited,
            [
                *("/", USER, "Sign out", "Download as zip", "Upload files", "Upload folder"),
                *("New folder", "Links", "Search the names of this folder"),
                *("Search the folders below this one", "Hidden names"),
                *("Name", "Size", "Modified", "Select all names", "../", "b", "Select b"),
                "Rename or delete b",
                visited[-1],
            ],
        )

    def test_the_keyboard_alone_sorts_and_deletes(self) -> None:
        self.open("a", "b")
        self.value("document.querySelector('th button').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.value(SEEN), ["b", "a"])
        self.value("document.querySelector('[aria-label=\"Rename or delete a\"]').focus()")
        self.browser.press("Enter")
        self.until(DIALOG)
        for _ in range(2):  # from the field over Rename to Delete
            self.browser.press("Tab")
        self.assertEqual(self.value(FOCUSED), "Delete\u2026")
        self.browser.press("Enter")
        self.until("document.querySelector('dialog h2').textContent", "Delete a")
        self.assertEqual(self.value(FOCUSED), "Cancel")
        while self.value(FOCUSED) != "Delete":
            self.browser.press("Tab")
        self.browser.press("Enter")
        self.until(SEEN, ["b"])

    def test_two_presses_of_enter_delete_nothing(self) -> None:
        self.open("a", "b")
        self.change("a")
        self.value(DELETE + ".focus()")
        self.browser.press("Enter")
        self.until("document.querySelector('dialog h2').textContent", "Delete a")
        self.until("document.activeElement.textContent", "Cancel")
        self.browser.press("Enter")
        self.until(DIALOG, False)
        self.assertEqual(self.value(SEEN), ["a", "b"])
        self.assertTrue((self.folder / "a").exists())

    @for_each(("Move", "Copy"))
    def test_a_file_goes_to_another_folder(self, answer: str) -> None:
        name = "a b%?.txt"
        self.open(name, "in here/")
        self.change(name)
        self.press("Move or copy\u2026")
        self.browser.type(f"{self.folder.name}/in here/")
        self.press(answer)
        self.until(STATUS, f"{name} is {'moved' if answer == 'Move' else 'copied'}.")
        self.assertTrue((self.folder / "in here" / name).exists())
        self.assertEqual((self.folder / name).exists(), answer == "Copy")
        (self.folder / "in here" / name).unlink()

    def test_a_file_stays_where_there_is_no_other_folder(self) -> None:
        self.open("a")
        for folder, words in (
            (f"/{self.folder.name}", "a is in this folder already."),
            ("/none", "There is no such folder."),
            ("../b", "This cannot be a folder."),
        ):
            self.change("a")
            self.press("Move or copy\u2026")
            self.browser.type(folder)
            self.browser.press("Enter")
            self.until(STATUS, words)
        self.assertTrue((self.folder / "a").exists())

    def test_ten_thousand_names_are_shown_in_a_second(self) -> None:
        self.open()
        for number in range(MANY):
            (self.folder / f"name-{number:05}").touch()
        self.browser.call("Performance.enable", timeDomain="threadTicks")
        shown_s = [self.shown_s() for _ in range(3)]
        self.assertEqual(len(self.value(SEEN)), MANY)
        self.assertLess(min(shown_s), 1)

    def shown_s(self) -> float:
        """How long the page works until it is shown. What others take of the core is left out."""
        before = self.worked_s()
        self.browser.go(self.value("location.href"))
        self.browser.call("Runtime.evaluate", expression=PAINTED, awaitPromise=True)
        return self.worked_s() - before

    def worked_s(self) -> float:
        metrics = self.browser.call("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "ThreadTime")


@needs(PROGRAM)
class ReadOnlyPageTest(PageTest):
    server_flags = ()

    def test_it_says_so_and_a_file_that_is_dropped_is_not_opened(self) -> None:
        self.open("a")
        words = "You may read this folder, but not change it."
        self.assertEqual(self.value("document.querySelector('.tools p').textContent"), words)
        tools = "[...document.querySelectorAll('.tools button')].map(one => one.textContent)"
        self.assertEqual(self.value(tools), ["Links", "Search below"])
        self.browser.drop(self.write("dropped.txt"))
        self.until(STATUS, words)
        self.assertEqual(self.value(SEEN), ["a"])


@needs(PROGRAM)
class TrashOfPageTest(PageTest):
    server_flags = ("--uploads", "folder", "--trash", "7")
    listed = "[...document.querySelectorAll('dialog li bdi')].map(one => one.textContent)"

    def delete(self, name: str) -> None:
        self.value(f"document.querySelector('[aria-label=\"Rename or delete {name}\"]').click()")
        self.press("Delete\u2026")
        undo = "It can be put back from the trash."
        self.until("document.querySelector('dialog p').textContent", undo)
        self.press("Delete")
        self.until(STATUS, f"{name} is deleted.")

    def test_what_was_deleted_is_put_back_or_removed(self) -> None:
        self.open("a b%", "c", "left")
        self.delete("a b%")
        self.delete("c")
        self.press("Trash")
        paths = [f"/{self.folder.name}/{name}" for name in ("c", "a b%")]
        self.until(self.listed, paths)
        self.value(f"document.querySelector('[aria-label=\"Put back {paths[1]}\"]').click()")
        self.until(self.listed, paths[:1])
        self.until(SEEN, ["a b%", "left"])
        self.press("Remove\u2026")
        self.until(FOCUSED, "Cancel")
        self.press("Remove")
        self.until(self.listed, [])
        self.press("Close")
        self.until(DIALOG, False)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a b%", "left"])
