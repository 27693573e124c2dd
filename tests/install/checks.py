"""What must hold behind each section of a page, and at the end of a way to install."""

import install_checks
import share_checks
from asking import Check

OF_PAGES: dict[str, dict[str, list[Check]]] = {
    "install.md": install_checks.OF_SECTIONS,
    "share.md": share_checks.OF_SECTIONS,
}
AT_THE_END: dict[str, list[Check]] = {
    "source": [install_checks.only_what_is_the_administrators_is_left],
    "package": [install_checks.only_the_served_files_are_left],
    "share": [],
}
