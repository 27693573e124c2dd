"""Without spare threads: those that have ended are joined before many new ones are made."""

import threading

from processes import threads
from programs import SANITIZED, run
from scene import SceneTest

_USERS = 16
_REQUESTS = 150 if SANITIZED else 1_200  # a sanitizer needs long for each thread

# Those of all users, as many that end, and some. Without a bound there are 150 to 250.
_MOST = 70


class EndedThreadsTest(SceneTest):
    def test_users_that_come_again_and_again_leave_few_threads(self) -> None:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.scene.write("small", b"x" * 1_000)
        server = self.scene.fileserver(authserver, "--spare-threads", 0)
        one = ("--user", "alice", "--password", "wonderland", "--file", "small")
        load = ("--threads", _USERS, "--requests", _REQUESTS, *one)
        done = []
        asking = threading.Thread(
            target=lambda: done.append(run("loadgen", "get", "--server", server, *load))
        )
        asking.start()
        most = 0
        while asking.is_alive():
            most = max(most, threads(server.pid))
            asking.join(0.001)
        # On a busy machine a thread may end long before the last one, which makes the run invalid.
        self.assertIn("errors         none", done[0].stderr)
        self.assertLess(most, _MOST)
