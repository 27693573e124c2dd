"""--redis-socket: Redis on a Unix-domain socket."""

import e2e_path  # noqa: F401
from client import Client
from databases import Redis
from store_scene import PLAIN, StoreTest


class RedisSocketTest(StoreTest):
    kinds = ()

    def test_accounts_are_kept_behind_a_socket(self) -> None:
        socket = self.scene.folder / "r.sock"
        redis = self.scene.keep(Redis(self.scene.folder / "redis", "--unixsocket", str(socket)))
        # The port is one on which nobody listens.
        flags = ["--store", "redis", "--redis-port", "1", "--redis-socket", str(socket)]
        for connection in ("persistent", "per-request"):
            with self.subTest(connection):
                server = self.scene.start(
                    "authserver",
                    ["--listen", "127.0.0.1:0", *PLAIN, *flags, "--store-connection", connection],
                )
                client = self.scene.keep(Client(server.address))
                self.assertIn(client.ask("new:alice:secret"), ("OK", "exists"))
                self.assertEqual(client.ask("auth:alice:secret"), "OK")
                self.assertIn(f"host=unix:{socket} ", server.log())
        self.assertEqual(redis.ask("exists", "user:alice"), "1")
