"""docs/install.md, taken apart: the blocks that a reader pastes, in their order."""

import re
from dataclasses import dataclass

from fresh_host import PROJECT

PAGE = PROJECT / "docs" / "install.md"


@dataclass(frozen=True)
class Block:
    section: str
    paragraph: str  # the one before it
    script: str

    def is_for(self, way: str) -> bool:
        """Whether it is for this way to install: "source" or "package". Most are for both."""
        words = f"{self.section} {self.paragraph}".lower()
        named = [one for one in ("source", "package") if f"from {one}" in words.replace("the ", "")]
        return not named or way in named


def blocks() -> list[Block]:
    """The indented blocks of the page."""
    found: list[Block] = []
    section = paragraph = ""
    # Blank lines are between blocks and paragraphs.
    for part in re.split(r"\n\n+", PAGE.read_text()):
        if part.startswith("    "):
            found.append(Block(section, paragraph, re.sub("(?m)^    ", "", part) + "\n"))
        elif part.startswith("#"):
            section, paragraph = part.lstrip("# "), ""
        else:
            paragraph = part
    return found
