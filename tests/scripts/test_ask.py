"""docker/ask does not wait for ever."""

import os
import socket
import subprocess
import threading

from host import PROJECT, ScriptTest, run

ASK = PROJECT / "docker" / "ask"


class AskTest(ScriptTest):
    def setUp(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))  # the kernel accepts for it
        self.addCleanup(self.server.close)
        self.address = f"127.0.0.1:{self.server.getsockname()[1]}"

    def ask(self, line: str) -> "subprocess.CompletedProcess[str]":
        env = {**os.environ, "LC_ALL": "C", "ASK_SERVER": self.address, "ASK_TIMEOUT": "1"}
        return run(ASK, line, env=env, timeout=60)

    def test_a_server_that_does_not_answer(self) -> None:
        said = f"ask: {self.address} does not answer within 1 s"
        self.assert_one_line(self.ask("ping"), 1, said)

    def test_a_file_that_does_not_come(self) -> None:
        connections: list[socket.socket] = []

        def answer() -> None:
            connections.append(self.server.accept()[0])
            connections[0].sendall(b"OK 10\n12345")

        answering = threading.Thread(target=answer)
        answering.start()
        asked = self.ask("a")
        answering.join()
        for connection in connections:
            connection.close()
        self.assert_one_line(asked, 1, f"ask: {self.address} does not send the file within 1 s")
