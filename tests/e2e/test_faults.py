"""One system call of the fileserver fails: nothing wrong is served, nothing is lost."""

import errno
import itertools

from faults import CALLS, SYNC
from faults_scene import FaultsScene
from http_client import FLAG
from scene import for_each


class FaultsTest(FaultsScene):
    @for_each(itertools.product(("prefetch", "disk"), ("thread", "event")))
    def test_a_system_call_fails(self, case: tuple[str, str]) -> None:
        mode, model = case
        # A new thread and a new connection to the authserver for each request have more calls.
        self.run_all(
            CALLS, 0, "--files", mode, "--model", model, "--auth-connection", "per-request"
        )

    def answer_without_sync(self, number: int, target: str, method: str, *fields: str) -> object:
        """The answer when the sync of this number fails. It must be there to fail."""
        before = self.faults.failed()
        self.faults.fail(SYNC, number, errno.EIO)
        status, _ = self.http(target, method, b"", *fields)
        self.faults.stop()
        self.assertEqual(self.faults.failed(), before + 1, f"{method}: sync {number}")
        return status

    @for_each(itertools.product(("prefetch", "disk"), ("thread", "event")))
    def test_what_is_answered_as_done_is_on_disk(self, case: tuple[str, str]) -> None:
        mode, model = case
        flags = ("--uploads", "folder", "--files", mode, "--model", model)
        self.server = self.start(*FLAG, *flags)
        path = self.scene.root / f"new-{mode}-{model}"
        self.assertEqual(self.answer_without_sync(1, f"/{path.name}", "PUT"), 500)
        self.assertFalse(path.exists(), "the bytes are on disk before they have a name")
        self.assertEqual(self.answer_without_sync(2, f"/{path.name}", "PUT"), 500)
        self.assertTrue(path.exists(), "the name is there before the folder is on disk")
        self.assertEqual(self.answer_without_sync(1, f"/{path.name}", "DELETE"), 500)
        self.assertEqual(self.answer_without_sync(1, f"/made-{mode}-{model}/", "MKCOL"), 500)
        self.assertEqual(self.server.stop(), 0)

    @for_each(("thread", "event"))
    def test_a_copy_whose_bytes_are_not_on_disk_gets_no_name(self, model: str) -> None:
        # A file of two pieces: what is said of the first one is not said again at the end.
        self.scene.write("pieces/f", bytes(1 << 20))
        self.server = self.start(*FLAG, "--uploads", "folder", "--model", model)
        for source, number in itertools.product(("/pieces", "/pieces/f"), (1, 2)):
            with self.subTest(source=source, number=number):
                to = f"/copy-{model}"
                answer = self.answer_without_sync(number, source, "COPY", f"Destination: {to}")
                self.assertEqual(answer, 500)
                self.assertFalse((self.scene.root / to[1:]).exists())
        self.assertEqual(self.server.stop(), 0)
