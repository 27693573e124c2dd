#!/usr/bin/env python3
"""Takes the pictures of the documentation again: `make pictures`. Chromium shows a scripts/try."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import shared_path  # noqa: F401
from browser import Browser
from waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1000, 590
UPLOADED = {"lecture-02.mp4": 51_200_000, "exercise-2.pdf": 22_400_000}
_BYTES_A_S = 6_000_000
_UNDER_WAY = (
    "[...document.querySelectorAll('progress')].filter(bar => bar.value > 0.2).length === 2"
)
SHARED = {  # name: bytes, days old
    "Course notes/week 1.pdf": (284_000, 21),
    "Measurements/points.csv": (1_480, 2),
    "Übersicht.txt": (2_120, 3),
    "exercise-1.pdf": (412_330, 12),
    "lecture-01.mp4": (48_300_120, 20),
    "results.tar.gz": (3_811_200, 1),
}
_DAY_S = 86_400
_NOON = 1_794_830_400  # of a day in November 2026, so that each picture has the same times


def make_share(folder: Path) -> None:
    for name, (size, days) in SHARED.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        sparse(path, size)
        for changed in (path, path.parent):
            os.utime(changed, (_NOON - days * _DAY_S,) * 2)


def sparse(path: Path, size: int) -> Path:
    path.touch()
    os.truncate(path, size)
    return path


def take(url: str, login: tuple[str, str], work: Path) -> bytes:
    browser = Browser(work, {**os.environ, "HOME": str(work), "TZ": "UTC"})
    try:
        browser.open(login, scripts=True)
        browser.resize(WIDTH, HEIGHT)
        browser.prefer("light")
        browser.go(url)
        browser.call("Fetch.disable")
        browser.set_network(bytes_a_s=_BYTES_A_S)
        browser.choose(
            "input[type=file]", *(sparse(work / name, UPLOADED[name]) for name in UPLOADED)
        )
        eventually(lambda: browser.evaluate(_UNDER_WAY), "both uploads are under way")
        return browser.screenshot()
    finally:
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="turnstile-pictures-") as folder:
        share, work = Path(folder) / "share", Path(folder) / "work"
        share.mkdir()
        work.mkdir()
        make_share(share)
        server = subprocess.Popen(
            [sys.executable, ROOT / "scripts" / "try", "--uploads", share],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout
            shown = "".join(iter(server.stdout.readline, "Ctrl-C ends it.\n"))
            url, user, password = re.findall(
                r"^  (?:in a browser|user|password) +(\S+)$", shown, re.M
            )
            PICTURES.mkdir(exist_ok=True)
            (PICTURES / "listing.png").write_bytes(take(url, (user, password), work))
        finally:
            server.terminate()
            server.wait()


main()
