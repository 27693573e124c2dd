"""A simulated power cut: the files of a server are set back to what it had synced.

The server is started with variables(), which load power_cut.c into it. It says what is recorded.
"""

import os
import shutil
from pathlib import Path

from rig.processes import run_tool

_SOURCE = Path(__file__).resolve().parent / "power_cut.c"


class PowerCut:
    """Watches one folder with all that is in it."""

    def __init__(self, folder: Path, *, ignores_syncs: bool = False) -> None:
        """Makes the watched folder, root, in folder. Failed when the library cannot be built."""
        folder = folder.resolve()
        self.root = folder / "data"
        self._synced = folder / "synced"
        self._library = folder / "power_cut.so"
        self._ignores_syncs = ignores_syncs
        self.root.mkdir(parents=True)
        command = ["gcc", "-shared", "-fPIC", "-O2", "-o", self._library, _SOURCE]
        run_tool([*map(str, command), "-ldl", "-pthread"], "build power_cut.c")
        self.begin()

    def variables(self) -> dict[str, str]:
        """The environment of the programs whose files are watched."""
        ignoring = {"POWER_CUT_IGNORE_SYNCS": "1"} if self._ignores_syncs else {}
        watched = {"POWER_CUT_ROOT": str(self.root), "POWER_CUT_SYNCED": str(self._synced)}
        return {"LD_PRELOAD": str(self._library)} | watched | ignoring

    def begin(self) -> None:
        """From now on; what is there counts as synced. Requires: no watched program runs."""
        shutil.rmtree(self._synced, ignore_errors=True)
        self._synced.mkdir()
        for folder, _, files in os.walk(self.root):
            names = [f"{entry.inode()} {entry.name}\n" for entry in os.scandir(folder)]
            self._names(Path(folder)).write_text("".join(names))
            for name in files:
                path = Path(folder) / name
                shutil.copyfile(path, self._data(path.stat().st_ino))

    def cut(self) -> None:
        """Sets the files back, and begins again. Requires: all watched programs were killed."""
        old = self.root.rename(self.root.with_name("before-the-cut"))
        for folder, folders, _ in os.walk(old):
            target = self.root / Path(folder).relative_to(old)
            target.mkdir()
            names = self._names(Path(folder))
            for line in names.read_text().splitlines() if names.exists() else ():
                inode, _, name = line.partition(" ")
                if name not in (".", "..", *folders):
                    self._restore(int(inode), target / name)
        shutil.rmtree(old)
        self.begin()

    def _restore(self, inode: int, path: Path) -> None:
        data = self._data(inode)
        if data.exists():
            shutil.copyfile(data, path)
        else:
            path.touch()  # its name was synced, but nothing of its content
        path.chmod(0o600)

    def _names(self, folder: Path) -> Path:
        return self._synced / f"names.{folder.stat().st_ino}"

    def _data(self, inode: int) -> Path:
        return self._synced / f"data.{inode}"
