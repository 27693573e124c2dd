"""Each link of a page leads to a file that is there, and to a heading of it."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
MOST_README_LINES = 100


def pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout.split()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ +(.+?) *$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue  # of another site
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{page.relative_to(ROOT)}: {link}")
    return broken


class LinksTest(unittest.TestCase):
    def test_each_link_leads_somewhere(self) -> None:
        self.assertGreater(len(pages()), 20)
        self.assertEqual([link for page in pages() for link in broken_links(page)], [])

    def test_each_page_of_docs_is_in_the_index(self) -> None:
        index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
        linked = {link.partition("#")[0] for link in LINK.findall(index)}
        names = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
        self.assertEqual(names - linked, set())

    def test_the_readme_is_short_and_shows_two_pictures(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), MOST_README_LINES)
        pictures = re.findall(r"!\[[^]]{10,}\]\(([^)]+)\)", text)
        self.assertEqual(len(pictures), 2)
