"""Chromium: several names of a folder are selected, and moved, deleted or downloaded at once."""

import base64
import io
import os
import zipfile

import shared_path  # noqa: F401
from browser import PROGRAM
from judge_scene import needs
from page_scene import DIALOG, SEEN, STATUS, PageTest

A_DOT = base64.b64decode(  # a PNG of one pixel, whatever the name says
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE_MARKDOWN = r"""# A *title* #
<script>document.title = 'run'</script> <img src=x onerror="document.title='run'">

Some **bold `code`** and _more_, \*no\*. [here](sub/) and [there](https://example.org/?a&b "t"),
<http://example.org/>, ![picture](p.png). [x](javascript:alert(1))
[y](data:text/html,x) <javascript:z>

> quoted
> > twice

7. seven
   further
   - deep
8. eight

---

    indented [no](code)

| a | b |
|---|---|

```sh
<b>code</b> [no](link)
```
"""
BAR = "document.querySelector('.selection')"
COUNT = f"{BAR}.hidden ? '' : {BAR}.firstChild.textContent"


FOUND = "[...document.querySelectorAll('dialog li a')].map(one => one.textContent)"


class SelectionTest(PageTest):
    def tick(self, *names: str) -> None:
        for name in names:
            self.value(f"document.querySelector('[aria-label=\"Select {name}\"]').click()")

    def ask(self, button: str) -> None:
        self.press(button)
        self.until(DIALOG)


@needs(PROGRAM)
class ChangeSelectedTest(SelectionTest):
    server_flags = ("--uploads", "folder")

    def test_what_is_selected_is_deleted_after_a_question(self) -> None:
        self.open("a", "b", "c", "sub/")
        (self.folder / "sub/below").touch()
        self.assertEqual(self.value(COUNT), "")
        self.tick("a", "sub")
        self.assertEqual(self.value(COUNT), "2 selected")
        self.ask("Delete selected\u2026")
        self.browser.press("Enter")  # the keyboard is on Cancel
        self.until(DIALOG, False)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "b", "c", "sub"])
        self.ask("Delete selected\u2026")
        self.press("Delete")
        self.until(STATUS, "2 deleted.")
        self.assertEqual(self.value(SEEN), ["b", "c"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["b", "c"])
        self.assertEqual(self.value(COUNT), "")

    def test_what_is_refused_is_named_and_stays_selected(self) -> None:
        self.open("a", "b", "c", "to/")
        (self.folder / "to/a").write_bytes(b"other")
        self.tick("a", "b", "c")
        for answer, words, left in (("Copy", "copied", "abc"), ("Move", "moved", "abc")):
            self.ask("Move or copy selected\u2026")
            self.browser.type(f"/{self.folder.name}/to/")
            self.press(answer)
            first = "2" if answer == "Copy" else "0"
            self.until(f"({STATUS}).startsWith('{first} {words}, ')")
            self.assertIn("a: There is something of this name already.", self.value(STATUS))
            self.assertEqual([one for one in self.value(SEEN) if one != "to"], list(left))
            if answer == "Copy":
                self.assertEqual(self.value(COUNT), "1 selected")
                self.tick("b", "c")
        self.assertEqual(self.value(COUNT), "3 selected")
        (self.folder / "to/b").unlink()
        self.ask("Move or copy selected\u2026")
        self.browser.type(f"{self.folder.name}/to")
        self.press("Move")
        self.until(f"({STATUS}).startsWith('1 moved, 2 not. ')")
        self.assertEqual(self.value(SEEN), ["to", "a", "c"])
        self.assertEqual((self.folder / "to/a").read_bytes(), b"other")

    def test_names_that_are_not_seen_are_not_selected(self) -> None:
        self.open("a1", "a2", "b1", ".hidden")
        self.value("document.querySelector('[aria-label=\"Select all names\"]').click()")
        self.assertEqual(self.value(COUNT), "3 selected")
        self.value("document.querySelector('input[type=search]').focus()")
        self.browser.type("1")
        self.assertEqual(self.value(COUNT), "2 selected")
        self.ask("Delete selected\u2026")
        self.press("Delete")
        self.until(STATUS, "2 deleted.")
        self.assertEqual(sorted(os.listdir(self.folder)), [".hidden", "a2"])

    def drag(self, name: str, to: str, **how: bool) -> None:
        link = "document.querySelector('a[href=\"{}\"]')".format
        self.browser.drag(link(name), link(to), **how)

    def test_a_name_is_dragged_to_a_folder(self) -> None:
        self.open("a", "b", "c", "sub/", "to/")
        self.drag("a", "to/")
        self.until(STATUS, "1 moved.")
        self.assertEqual(self.value(SEEN), ["sub", "to", "b", "c"])
        self.drag("b", "to/", with_control=True)
        self.until(STATUS, "1 copied.")
        self.tick("b", "sub")
        self.drag("c", "to/")  # it is not among those that are selected
        self.until(STATUS, "1 moved.")
        self.assertEqual(sorted(os.listdir(self.folder / "to")), ["a", "b", "c"])
        self.assertEqual(self.value(SEEN), ["sub", "to", "b"])
        self.tick("b", "sub")
        self.drag("b", "to/")
        self.until(f"({STATUS}).startsWith('1 moved, 1 not. ')")
        self.assertIn("b: There is something of this name already.", self.value(STATUS))
        self.assertEqual(sorted(os.listdir(self.folder)), ["b", "to"])

    def test_a_name_is_dragged_to_a_folder_above(self) -> None:
        self.open("a", "b", "sub/")
        (self.folder / "sub/x").write_bytes(b"x")
        (self.folder / "sub/y").write_bytes(b"y")
        self.browser.go(f"{self.url}/{self.folder.name}/sub/")
        for name, to in (("x", "h1 a:last-of-type"), ("y", "tr.up a")):
            link = f"document.querySelector('a[href=\"{name}\"]')"
            self.browser.drag(link, f"document.querySelector('{to}')")
            self.until(STATUS, "1 moved.")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "b", "sub", "x", "y"])
        self.assertEqual((self.folder / "x").read_bytes(), b"x")

    def test_what_is_dragged_elsewhere_stays(self) -> None:
        self.open("a", "sub/", "other/")
        for name, to in (("a", "a"), ("sub/", "sub/"), ("../", "sub/")):
            self.drag(name, to)
        self.browser.drag("document.querySelector('a[href=\"a\"]')", "document.querySelector('h1')")
        self.tick("sub", "other")
        self.drag("sub/", "other/")
        self.assertEqual(self.value("document.querySelector('.onto')"), None)
        self.assertEqual(self.value(STATUS), "")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "other", "sub"])

    def test_they_are_in_this_folder_already(self) -> None:
        self.open("a", "b")
        self.tick("a", "b")
        self.ask("Move or copy selected\u2026")
        self.press("Move")
        self.until(STATUS, "They are in this folder already.")


@needs(PROGRAM)
class ReadSelectedTest(SelectionTest):
    server_flags = ()

    def test_pictures_are_looked_at_one_after_the_other(self) -> None:
        for name in ("1.png", "2.JPG", "10.webp"):
            (self.folder / name).write_bytes(A_DOT)
        self.open("1.png", "2.JPG", "3.txt", ".4.gif", "10.webp")
        self.value("document.querySelector('td a[href=\"1.png\"]').click()")
        heading = "document.querySelector('dialog h2')?.textContent"
        shown = "[...document.querySelectorAll('dialog img')].map(one => one.naturalWidth)"
        for step, name in (
            ("0", "1.png (1 of 3)"),
            ("press", "2.JPG (2 of 3)"),
            ("ArrowRight", "10.webp (3 of 3)"),
            ("ArrowRight", "1.png (1 of 3)"),
            ("ArrowLeft", "10.webp (3 of 3)"),
        ):
            if step == "press":
                self.press("Next")
            elif step != "0":
                self.browser.press(step)
            self.until(heading, name)
            self.until(shown, [1])
        self.browser.press("Escape")
        self.until(DIALOG, False)
        self.browser.goes(lambda: self.browser.click("3.txt"))

    def test_nothing_is_moved_by_who_may_only_read(self) -> None:
        self.open("a", "sub/")
        link = "document.querySelector('a[href=\"{}\"]')".format
        self.browser.drag(link("a"), link("sub/"))
        self.assertEqual(self.value(STATUS), "")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "sub"])

    def test_a_text_of_markdown_is_shown_and_nothing_in_it_runs(self) -> None:
        (self.folder / "README.md").write_text(HOSTILE_MARKDOWN)
        self.open("README.md", "sub/")
        self.value("document.querySelector('td a[href=\"README.md\"]').click()")
        self.until("document.querySelector('dialog h2')?.textContent", "README.md")
        text = "document.querySelector('dialog article')"
        kinds = f"[...new Set([...{text}.querySelectorAll('*')].map(one => one.localName))].sort()"
        allowed = ["a", "blockquote", "code", "em", "h3", "hr", "li", "ol", "p", "pre", "strong"]
        self.assertEqual(self.value(kinds), [*allowed, "ul"])
        links = f"[...{text}.querySelectorAll('a')].map(one => one.getAttribute('href'))"
        here = f"{self.url}/{self.folder.name}"
        self.assertEqual(
            self.value(links),
            [f"{here}/sub/", "https://example.org/?a&b", "http://example.org/", f"{here}/p.png"],
        )
        shown = self.value(f"{text}.textContent")
        for part in ("<script>document.title = 'run'</script>", "[x](javascript:alert(1))", "*no*"):
            self.assertIn(part, shown)
        self.assertEqual(self.value(f"{text}.querySelector('ol').start"), 7)
        self.assertEqual(self.value(f"{text}.querySelector('li ul li').textContent"), "deep")
        self.assertNotIn("run", self.value("document.title"))

    def test_a_text_of_markdown_that_is_made_to_take_long_takes_no_longer(self) -> None:
        signs = (
            "[",
            "`a",
            "*a",
            "> ",
            "_a ",
            "[x](a ",
            "<http:",
            "# #",
            "- ",
            "* a ",
            "- a\n",
            "![",
        )
        long = "\n\n".join(sign * (30_000 // len(sign)) for sign in signs)
        (self.folder / "long.md").write_text(long + "#" + " " * 40_000 + "x")
        (self.folder / "large.md").write_bytes(b"x" * 500_001)
        self.open()
        self.value("document.querySelector('td a[href=\"long.md\"]').click()")
        self.until("document.querySelector('dialog h2')?.textContent", "long.md")
        deep = "document.querySelectorAll('dialog {}').length".format
        self.assertEqual(self.value(deep("blockquote")), 20)
        self.browser.press("Escape")
        self.browser.goes(lambda: self.browser.click("large.md"))
        self.assertTrue(self.value("location.pathname").endswith("/large.md"))

    def test_names_below_are_found_and_lead_there(self) -> None:
        self.open("plan.txt", "sub/", "other")
        (self.folder / "sub/deep #%").mkdir()
        (self.folder / "sub/deep #%/The PLANS <b>.txt").write_bytes(b"found")
        (self.folder / "sub/Planes").mkdir()
        self.value("document.querySelector('input[type=search]').focus()")
        self.browser.type("plan")
        self.browser.press("Enter")
        self.until(f"{FOUND}.length", 3)
        wanted = ["plan.txt", "sub/Planes/", "sub/deep #%/The PLANS <b>.txt"]
        self.assertEqual(self.value(FOUND), wanted)
        self.browser.goes(lambda: self.value("document.querySelectorAll('dialog li a')[2].click()"))
        self.assertEqual(self.value("document.body.textContent"), "found")

    def test_who_may_only_read_gets_what_is_selected_as_a_zip(self) -> None:
        self.open("a", "b & c=d%+\u00e4", "sub/", "left")
        (self.folder / "sub/left").write_bytes(b"in the folder")
        self.tick("a", "b & c=d%+\u00e4", "sub")
        buttons = f"[...{BAR}.querySelectorAll('button')].map(one => one.textContent)"
        self.assertEqual(self.value(buttons), ["Zip selected", "Select none"])
        saved = self.browser.save(lambda: self.press("Zip selected"))
        with zipfile.ZipFile(io.BytesIO(saved)) as opened:
            wanted = ["a", "b & c=d%+\u00e4", "sub/", "sub/left"]
            self.assertEqual(sorted(opened.namelist()), wanted)
        self.press("Select none")
        self.assertEqual(self.value(COUNT), "")
