"""What a client gets from a server that refuses it."""

import socket
import threading
import unittest

from rig import servers
from rig.processes import Address

_MORE_THAN_THE_BUFFERS_HOLD = "x" * (32 << 20)


def _refuse(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"ERR busy\n")
        connection.shutdown(socket.SHUT_WR)


class Ask(unittest.TestCase):
    def test_the_answer_of_a_server_that_closed_before_the_lines_came_is_read(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=_refuse, args=(listener,))
            thread.start()
            try:
                address = Address(*listener.getsockname())
                answer = servers.ask(address, _MORE_THAN_THE_BUFFERS_HOLD)
            finally:
                thread.join()
        self.assertEqual(answer, b"ERR busy\n")
