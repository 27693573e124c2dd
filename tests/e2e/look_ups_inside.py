"""Run by test_no_look_ups.py in a network namespace of its own, so that its counters are ours."""

import socket
import subprocess

from client import Client, grant
from scene import SceneTest, create_account

from rig.host import network_counters

_SOURCE = "127.9.9.9"  # no file of names has it
_IDENT_PORT = 113
_CONNECTIONS = 20


def _sent_datagrams() -> int:
    """UDP of this network namespace, which is how names are asked for."""
    return network_counters("Udp")["OutDatagrams"]


class InsideTest(SceneTest):
    @classmethod
    def setUpClass(cls) -> None:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # With a route to everywhere, a question to any name server would be sent and counted.
        subprocess.run(["ip", "route", "add", "default", "dev", "lo"], check=True)

    def test_a_connection_makes_no_datagram_and_no_connection_to_port_113(self) -> None:
        ident = self.scene.keep(socket.create_server(("", _IDENT_PORT)))
        ident.setblocking(False)
        files = self.scene.fileserver(self.scene.authserver())
        create_account(files)
        before = _sent_datagrams()
        for _ in range(_CONNECTIONS):
            grant(self.scene.keep(Client(files.address, source=_SOURCE)))
        self.assertEqual(_sent_datagrams(), before)
        self.assertRaises(BlockingIOError, ident.accept)

    def test_the_counter_would_show_a_question(self) -> None:
        before = _sent_datagrams()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.sendto(b"who?", ("192.0.2.1", 53))
        self.assertEqual(_sent_datagrams(), before + 1)
