"""Pages taken apart: the blocks that a reader pastes, in their order."""

import re
from dataclasses import dataclass

from fresh_host import PROJECT

# Of each way to install.
PAGES = {"source": "install.md", "package": "install.md", "share": "share.md"}


@dataclass(frozen=True)
class Block:
    section: str
    paragraph: str  # the one before it
    script: str

    @property
    def mounts(self) -> bool:
        return "/mnt/" in self.script

    def is_for(self, way: str) -> bool:
        """Whether it is for this way to install. Most are for all that have the page."""
        words = f"{self.section} {self.paragraph}".lower()
        named = [one for one in PAGES if f"from {one}" in words.replace("the ", "")]
        return not named or way in named


def blocks(way: str) -> list[Block]:
    """The indented blocks of its page that are for it."""
    found: list[Block] = []
    section = paragraph = ""
    # Blank lines are between blocks and paragraphs.
    for part in re.split(r"\n\n+", (PROJECT / "docs" / PAGES[way]).read_text()):
        if part.startswith("    "):
            found.append(Block(section, paragraph, re.sub("(?m)^    ", "", part) + "\n"))
        elif part.startswith("#"):
            section, paragraph = part.lstrip("# "), ""
        else:
            paragraph = part
    return [block for block in found if block.is_for(way)]
