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

    def answer_with(self, answer: bytes) -> None:
        """Answers the first line of the next connection, and closes it."""

        def serve() -> None:
            connection = self.server.accept()[0]
            with connection:
                connection.recv(100)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)

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

    def test_whatever_a_server_says_it_lives(self) -> None:
        for answer in (b"ERR syntax an empty line\n", b"ERR busy x\n", b"ERR unavailable x\n"):
            with self.subTest(answer):
                self.answer_with(answer)
                asked = self.ask("--live")
                self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, "", ""))

    def test_a_server_that_hangs_does_not_live(self) -> None:
        said = f"ask: {self.address} does not answer within 1 s"
        self.assert_one_line(self.ask("--live"), 1, said)

    def test_a_server_that_closes_without_a_line_does_not_live(self) -> None:
        self.answer_with(b"")
        said = f"ask: {self.address} closed the connection"
        self.assert_one_line(self.ask("--live"), 1, said)

    def test_a_server_that_is_not_there_does_not_live(self) -> None:
        self.server.close()
        self.assert_one_line(self.ask("--live"), 1, f"ask: cannot connect to {self.address}")
