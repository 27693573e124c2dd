"""The torture tests have a network of their own where they may, and try another port."""

import os
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from attacked import on_a_free_port
from programs import BUILD
from waiting import LONG_S

from rig.errors import Failed
from rig.processes import Address, Program

_HERE = Path(__file__).resolve().parent
_LOOK = """
import own_network, socket
reason = own_network.enter()
listener = socket.create_server(("127.0.0.1", 0))
socket.create_connection(listener.getsockname())
print(reason or " ".join(name for _, name in socket.if_nameindex()))
"""


class OwnNetworkTest(unittest.TestCase):
    def test_it_has_loopback_only_or_says_why_there_is_none(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", _LOOK],
            env=os.environ | {"PYTHONPATH": str(_HERE.parent / "e2e")},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertRegex(done.stdout, r"^(lo\b|Operation not permitted$)")

    def test_another_port_is_tried(self) -> None:
        tried: list[Address] = []

        def start(address: Address) -> Address:
            tried.append(address)
            if len(tried) < 3:
                raise Failed("did not become ready: Address already in use")
            return address

        self.assertEqual(on_a_free_port(start), tried[2])
        self.assertEqual(len({address.port for address in tried}), 3)

    def test_another_failure_is_not_tried_again(self) -> None:
        def start(address: Address) -> None:
            raise Failed(f"no {address}")

        with self.assertRaisesRegex(Failed, "no 127"):
            on_a_free_port(start)

    def test_our_servers_say_that_a_port_is_taken(self) -> None:
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as one:
            address = Address(*one.getsockname())
            flags = ["--listen", str(address), "--sqlite-path", f"{folder}/accounts.db"]
            program = Program(
                "authserver", [str(BUILD / "authserver"), *flags], Path(folder) / "log"
            )
            with self.assertRaisesRegex(Failed, "Address already in use"):
                program.wait_ready(LONG_S)
