"""The recipes of CONTRIBUTING.md can be followed.

What they name is there: files, names in files, tests. The example of a recipe is carried out on
copies of the files that it changes. Then C++ compiles, and the script of the page has its size.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from needs import missing
from shell import PROJECT

_RECIPE = re.compile(r"^## (Add .*)$", re.MULTILINE)
_BLOCK = re.compile(r"^ *```text\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w./-]*(?:/[\w.-]+|\w\.(?:cpp|h|py|js|json|md|txt|css|csv))")
_PLACEHOLDER = re.compile(r"(?<![A-Za-z])[A-Z]{4,}(?![A-Z]*\.md)")  # NAME, KIND, NUMBER, PROGRAM
_IN_FILE = re.compile(r"`(\w+)` (?:in|of)(?: the)?\s+`([\w./-]+\.(?:cpp|h|py|js))`")
_TESTS_OF = re.compile(r"make e2e T='?([\w ]+)'?")
_TAG = re.compile(r"make unit T='(\[\w+\])'")
# What a recipe names and nobody keeps: made by a run, or known by its name alone.
_NOT_KEPT = {"points.csv", ".cpp", "/-/"}
_SKIPPED = {"build", ".git", "__pycache__", "results"}
_OTHER_SCRIPTS = ("invitation.js", "drop.js", "own_account.js", "people.js", "show.js")
_MOST_BYTES = 45_000  # of the scripts and the style of a folder


@dataclass(frozen=True)
class Recipe:
    title: str
    text: str

    def examples(self) -> dict[str, list[str]]:
        """The lines of the example, by the file that they change."""
        found: dict[str, list[str]] = {}
        file = ""
        for block in _BLOCK.findall(self.text):
            for line in block.splitlines():
                line = line.strip()
                if line.startswith("@ "):
                    file = line[2:]
                elif line and file:
                    found.setdefault(file, []).append(line)
        return found


def recipes() -> list[Recipe]:
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = _RECIPE.split(text)[1:]
    return [Recipe(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


@cache
def _paths() -> tuple[str, ...]:
    """All files and folders, each with a slash in front."""
    found = []
    for folder, folders, files in os.walk(PROJECT):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        top = "/" + str(Path(folder).relative_to(PROJECT)) if Path(folder) != PROJECT else ""
        found += [f"{top}/{name}" for name in (*folders, *files)]
    return tuple(found)


def files_of(name: str) -> list[Path]:
    """Those whose path ends so. A recipe may leave out the folders above that all know."""
    if (PROJECT / name).exists():
        return [PROJECT / name]
    return [PROJECT / path[1:] for path in _paths() if path.endswith("/" + name)]


def changed(text: str, lines: list[str]) -> str:
    """The text after an example. Raises ValueError where a line is not there exactly once."""
    at = 0
    old = ""
    for line in lines:
        mark, rest = line[:2], line[2:]
        if mark == "+ " and old:
            text, old = text.replace(old, rest), ""
        elif mark == "+ ":
            text = f"{text[:at]}\n{rest}{text[at:]}"
            at += 1 + len(rest)
        else:
            sought = rest if mark == "- " else line
            if text.count(sought) != 1:
                raise ValueError(f"{text.count(sought)} times there: {sought}")
            old = sought if mark == "- " else ""
            end = text.find("\n", text.index(sought))
            at = end if end >= 0 else len(text)
    return text


class RecipesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.recipes = recipes()
        self.assertGreater(len(self.recipes), 15)

    def test_each_file_that_is_named_is_there(self) -> None:
        for recipe in self.recipes:
            for code in _CODE.findall(recipe.text):
                if (
                    not _PATH.fullmatch(code)
                    or code in _NOT_KEPT
                    or code.startswith("build/")
                    or _PLACEHOLDER.search(code)
                ):
                    continue
                with self.subTest(recipe.title):
                    self.assertTrue(files_of(code), f"there is no {code}")

    def test_each_name_is_in_the_file_that_is_said_to_have_it(self) -> None:
        named = 0
        for recipe in self.recipes:
            for name, file in _IN_FILE.findall(recipe.text):
                if _PLACEHOLDER.search(file):
                    continue
                named += 1
                texts = [path.read_text(encoding="utf-8") for path in files_of(file)]
                with self.subTest(recipe.title):
                    self.assertTrue(any(name in text for text in texts), f"{file} has no {name}")
        self.assertGreater(named, 10)

    def test_each_command_runs_some_tests(self) -> None:
        sources = list((PROJECT / "tests").rglob("*_test.cpp"))
        tags = {
            tag
            for path in sources
            for tag in re.findall(r"\[\w+\]", path.read_text(encoding="utf-8"))
        }
        files = [path.stem for path in (PROJECT / "tests" / "e2e").glob("test_*.py")]
        for recipe in self.recipes:
            with self.subTest(recipe.title):
                self.assertLessEqual(set(_TAG.findall(recipe.text)), tags)
                for part in " ".join(_TESTS_OF.findall(recipe.text)).split():
                    self.assertTrue([file for file in files if part in file], part)

    def test_each_example_can_be_carried_out(self) -> None:
        with_examples = [recipe for recipe in self.recipes if recipe.examples()]
        self.assertGreater(len(with_examples), 3)
        for recipe in with_examples:
            with self.subTest(recipe.title), tempfile.TemporaryDirectory() as folder:
                if recipe.title != "Add a mutation":  # test_mutants.py reads its like
                    self.carry_out(recipe, Path(folder))

    def carry_out(self, recipe: Recipe, folder: Path) -> None:
        written = []
        for file, lines in recipe.examples().items():
            (path,) = files_of(file)
            copy = folder / path.relative_to(PROJECT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(changed(path.read_text(encoding="utf-8"), lines), encoding="utf-8")
            written.append(copy)
        if any(path.suffix == ".js" for path in written):
            self.assert_script_fits(folder)
        for path in written:
            if path.suffix == ".cpp":
                self.assert_compiles(path, folder)

    def assert_script_fits(self, folder: Path) -> None:
        page = PROJECT / "fileserver" / "http" / "page"
        total = 0
        for path in page.glob("*.js"):
            if path.name in _OTHER_SCRIPTS:
                continue
            copy = folder / path.relative_to(PROJECT)
            text = (copy if copy.exists() else path).read_text(encoding="utf-8")
            lines = [line for line in text.splitlines() if line.strip()]
            total += sum(len(line) + 1 for line in lines if not line.lstrip().startswith("//"))
        self.assertLess(total, _MOST_BYTES)

    def assert_compiles(self, source: Path, folder: Path) -> None:
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if not compiler:
            self.skipTest(missing("c++") or "there is no compiler of this name here")
        flags = (PROJECT / "compile_flags.txt").read_text(encoding="utf-8").split()
        # Warnings are those of each compiler, and the gate has its own builds for them.
        command = [compiler, "-fsyntax-only", f"-I{folder}", f"-I{folder}/lib", *flags, "-w"]
        done = subprocess.run(
            [*command, str(source)], cwd=PROJECT, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_a_line_that_is_not_there_is_found(self) -> None:
        self.assertEqual(changed("a\nb\nc\n", ["b", "+ x", "+ y", "- c", "+ z"]), "a\nb\nx\ny\nz\n")
        with self.assertRaisesRegex(ValueError, "0 times"):
            changed("a\n", ["b", "+ x"])
        with self.assertRaisesRegex(ValueError, "2 times"):
            changed("a\na\n", ["- a", "+ x"])
