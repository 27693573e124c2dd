"""--sandbox: what somebody who has taken over an authserver with a database server can still do.

tests/e2e/test_sandbox.py has the servers that need no database.
"""

import socket
import unittest

from store_scene import StoreTest
from test_sandbox import WITH_TCP, Attacker, sandbox_version, succeeded, why_not_hijacked


@unittest.skipIf(why_not_hijacked(), why_not_hijacked() or "")
class HijackedTest(StoreTest):
    def test_the_authserver_reaches_its_store_and_nothing_else(self) -> None:
        attacker = Attacker(self.scene)
        file = self.scene.write("a", b"content")
        elsewhere = self.scene.keep(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        never = ["read-/etc/passwd", f"read-{file}", f"write-{file}", "execute"]
        never += [f"write-{self.scene.folder}/new", f"write-{self.scene.accounts}"]
        never += [f"connect-{elsewhere}"] if sandbox_version() >= WITH_TCP else []
        for kind, database in self.databases.items():
            store = f"connect-{database.port}"
            for sandbox, expected in (("off", [store, *never]), ("on", [store])):
                with self.subTest(kind=kind, sandbox=sandbox):
                    environment = attacker.environment([store, *never])
                    server = self.authserver(kind, "--sandbox", sandbox, env=environment)
                    self.assertEqual(succeeded(server, self.client(server)), expected)
