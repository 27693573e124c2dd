"""Programs that wait for a reader of a FIFO, which the server must never be."""

import os
import threading
from pathlib import Path


class Openers:
    """Threads that open a FIFO for writing, and wait in open() until somebody opens it for reading.

    The server must never do that; `opened` shows if it did.
    """

    def __init__(self, *fifos: Path) -> None:
        self._fifos = fifos
        self._threads = [
            threading.Thread(target=self._open, args=(fifo,), daemon=True) for fifo in fifos
        ]
        self.opened: list[Path] = []
        for thread in self._threads:
            thread.start()

    def _open(self, fifo: Path) -> None:
        os.close(os.open(fifo, os.O_WRONLY))
        self.opened.append(fifo)

    def close(self) -> None:
        for fifo, thread in zip(self._fifos, self._threads, strict=True):
            while thread.is_alive():
                os.close(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))
                thread.join(0.01)
