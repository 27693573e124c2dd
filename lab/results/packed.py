"""All that was recorded may be in one archive of the folder, recorded.zip, as `lab report --pack`
leaves it. A run writes plain files: what it has recorded is there however it ends.
"""

import os
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

_ARCHIVE = "recorded.zip"
_RECORDED = ("*.csv", "environment.json", "callgrind.out.*", "clocks/*", "samples/*.json")
_PACKED_AT = (1980, 1, 1, 0, 0, 0)  # for all, so that equal files make an equal archive


class Recorded:
    """The files of a results folder. Each is read from the archive if it does not stand beside it.

    One thread, and the only one of the folder that packs or unpacks.
    """

    def __init__(self, folder: Path):
        self._folder, self._archive = folder, folder / _ARCHIVE
        self._packed: frozenset[str] = frozenset()
        if self._archive.exists():
            with zipfile.ZipFile(self._archive) as archive:
                self._packed = frozenset(archive.namelist())

    def read_text(self, name: str) -> str:
        """Empty when there is no such file."""
        if (self._folder / name).exists():
            return (self._folder / name).read_text(encoding="utf-8")
        if name not in self._packed:
            return ""
        with zipfile.ZipFile(self._archive) as archive:
            return archive.read(name).decode("utf-8")

    def pack(self) -> None:
        """Moves the files into the archive. They go once the archive is on the disk."""
        self.unpack()
        paths = sorted(path for pattern in _RECORDED for path in self._folder.glob(pattern))
        draft = self._archive.with_suffix(".draft")
        with open(draft, "wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for path in paths:
                    entry = zipfile.ZipInfo(str(path.relative_to(self._folder)), _PACKED_AT)
                    archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._archive)
        self._packed = frozenset(str(path.relative_to(self._folder)) for path in paths)
        for path in paths:
            path.unlink()
        for folder in {path.parent for path in paths} - {self._folder}:
            if not any(folder.iterdir()):
                folder.rmdir()

    def unpack(self) -> None:
        """Makes the files from the archive, so that they can be appended to or replaced."""
        if not self._packed:
            return
        with TemporaryDirectory(prefix="unpacked-", dir=self._folder) as new:
            with zipfile.ZipFile(self._archive) as archive:
                archive.extractall(new)
            for name in self._packed:
                path = self._folder / name
                path.parent.mkdir(exist_ok=True)
                if not path.exists():
                    (Path(new) / name).replace(path)
        self._archive.unlink()
        self._packed = frozenset()
