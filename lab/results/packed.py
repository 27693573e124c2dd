"""Files of a results folder that is kept may be packed: NAME.gz in the place of NAME."""

from __future__ import annotations

import gzip
from pathlib import Path


def is_there(path: Path) -> bool:
    return path.exists() or _packed(path).exists()


def read_text(path: Path) -> str:
    """Of the file, or of the packed one; "" when there is neither."""
    if path.exists():
        return path.read_text(encoding="utf-8")
    if _packed(path).exists():
        return gzip.decompress(_packed(path).read_bytes()).decode("utf-8")
    return ""


def unpack(path: Path) -> None:
    """Makes the file from the packed one, so that it can be appended to or replaced."""
    if not path.exists() and _packed(path).exists():
        path.write_bytes(gzip.decompress(_packed(path).read_bytes()))


def _packed(path: Path) -> Path:
    return path.with_name(path.name + ".gz")
