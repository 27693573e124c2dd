"""nginx with docs/tls/nginx.conf: it waits for a disk that is slower than its own time-outs.

By default the time-outs around that file are two seconds, and the disk takes five. With
TURNSTILE_SLOW_DISK=full they are nginx's own, which are a minute, and one upload has 3 GB.
"""

import filecmp
import os
import subprocess
from pathlib import Path

import shared_path  # noqa: F401
from tls_scene import ProxyTest
from waiting import LONG_S

_SOURCE = Path(__file__).with_name("slow_disk.c")
_IS_FULL = os.environ.get("TURNSTILE_SLOW_DISK") == "full"
_SLOW_S = 65 if _IS_FULL else 5
_BYTES = 30_000_000
_HUGE_BYTES = 3_000_000_000 if _IS_FULL else _BYTES
_TIME_OUTS = ("client_body", "proxy_read", "proxy_send", "proxy_connect", "send")
_AROUND = "" if _IS_FULL else "".join(f"{kind}_timeout 2s;\n" for kind in _TIME_OUTS)
_HTTP_1 = "--http1.1"
_UPLOADS = {
    "slow-sync/huge": (_HUGE_BYTES, (_HTTP_1,)),
    "slow-sync/2": (_BYTES, ("--http2",)),
    "slow-sync/chunked": (_BYTES, (_HTTP_1, "-H", "Transfer-Encoding: chunked")),
    "slow-write/2": (_BYTES, ("--http2",)),
    "slow-write/1": (_BYTES, (_HTTP_1,)),
    "slow-write/chunked": (_BYTES, (_HTTP_1, "-H", "Transfer-Encoding: chunked")),
}


class SlowDiskTest(ProxyTest):
    needs = ("openssl", "nginx", "curl", "cc")

    def environment(self) -> dict[str, str]:
        library = self.scene.folder / "slow_disk.so"
        command = ("cc", "-std=gnu11", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl")
        subprocess.run(command, check=True, timeout=LONG_S)
        return {"LD_PRELOAD": str(library), "SLOW_DISK_S": str(_SLOW_S)}

    def body(self, name: str) -> Path:
        return self.folder / name.replace("/", "-")

    def start_upload(self, name: str, size_bytes: int, how: tuple[str, ...]) -> subprocess.Popen:
        """A file that is a hole, but for its first and its last bytes."""
        (self.scene.root / name).parent.mkdir(exist_ok=True)
        with self.body(name).open("wb") as file:
            file.write(os.urandom(100_000))
            file.seek(size_bytes - 100_000)
            file.write(os.urandom(100_000))
        url = f"https://localhost:{self.port}/{name}"
        account = ("-u", "alice:wonderland", "--cacert", str(self.certificate))
        upload = subprocess.Popen(
            ["curl", "-sS", *account, *how, "-w", "%{http_code}", "-T", self.body(name), url],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(upload.wait)
        self.addCleanup(upload.kill)
        return upload

    def test_what_is_stored_late_is_answered_as_stored(self) -> None:
        self.start_nginx(_AROUND)
        uploads = {name: self.start_upload(name, *what) for name, what in _UPLOADS.items()}
        for name, upload in uploads.items():
            with self.subTest(name):
                said, _ = upload.communicate(timeout=10 * LONG_S)
                self.assertEqual(said, "201")
                stored = self.scene.root / name
                self.assertTrue(filecmp.cmp(self.body(name), stored, shallow=False))


del ProxyTest  # Without this, unittest would run the base class too.
