"""What a page names is there: targets of make, experiments of the lab, and where links lead."""

import re
import subprocess
import unittest
from collections.abc import Iterator
from pathlib import Path

import pages
from shell import PROJECT

_MAKE = re.compile(r"(?:`|^ {4,}|&& )make ([a-z][a-z0-9_-]*(?:\.json)?)(?![\w-]*=)", re.MULTILINE)
_EXPERIMENTS = re.compile(r"\blab (?:run|doctor) ((?:(?!-)[\w-]+ )*(?!-)[\w-]+)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PLACEHOLDER = re.compile(r"[A-Z]+")  # such as EXPERIMENT


def texts() -> Iterator[tuple[str, str]]:
    for name in pages.names():
        yield name, (PROJECT / name).read_text(encoding="utf-8")


def anchors_of(path: Path) -> set[str]:
    """As GitHub makes them of the headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def _listed(line: str) -> list[str]:
    """The names in a row of the list, of which one may have several: `all, 002`."""
    return re.split(r", | or ", re.split(r" {2,}", line.strip())[0])


class NamesTest(unittest.TestCase):
    """Each test looks at all pages."""

    def require_all(self, names: list[tuple[str, str]], known: set[str], least: int) -> None:
        self.assertGreater(len(names), least, "most names were not found")
        for page, name in names:
            with self.subTest(page=page):
                self.assertIn(name, known)

    def test_targets_of_make(self) -> None:
        makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
        known = {
            target
            for line in re.findall(r"^([a-z][a-z0-9_. -]*):", makefile, re.MULTILINE)
            for target in line.split()
        }
        named = [(page, name) for page, text in texts() for name in _MAKE.findall(text)]
        self.require_all(named, known, 20)

    def test_experiments_of_the_lab(self) -> None:
        listed = subprocess.run(
            ["scripts/lab", "list"], cwd=PROJECT, capture_output=True, text=True, check=True
        ).stdout
        known: set[str] = set()
        for below in re.findall(r"^experiments of .*\n((?: .*\n)*)", listed, re.MULTILINE):
            known |= {name for line in below.splitlines() for name in _listed(line)}
        named = [
            (page, name)
            for page, text in texts()
            for names in _EXPERIMENTS.findall(text)
            for name in names.split()
            if not _PLACEHOLDER.fullmatch(name)
        ]
        self.require_all(named, known, 20)

    def test_links_within_the_checkout(self) -> None:
        count = 0
        for page, text in texts():
            for link in _LINK.findall(text):
                if "://" in link:
                    continue
                count += 1
                target, _, anchor = link.partition("#")
                path = (PROJECT / page).parent / target if target else PROJECT / page
                with self.subTest(page=page, link=link):
                    self.assertTrue(path.exists())
                    if anchor:
                        self.assertIn(anchor, anchors_of(path))
        self.assertGreater(count, 50)
