"""A store that can be read and takes no changes: the log says that, and not that it is down."""

import unittest
from pathlib import Path

import e2e_path  # noqa: F401
from mount_namespace import NAMESPACES, why_no_mounts
from programs import Program
from store_scene import PLAIN, StoreTest, start_authserver


class NoChangesTest(StoreTest):
    kinds = ("redis",)

    def test_it_is_told_with_its_reason_until_it_ends(self) -> None:
        server = self.authserver("redis", *PLAIN)
        client = self.client(server)
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        redis = self.databases["redis"]
        redis.ask("config", "set", "min-replicas-to-write", "1")
        self.refuses(server, "NOREPLICAS")
        redis.ask("config", "set", "min-replicas-to-write", "0")
        self.takes_again(server)

    @unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
    def test_a_full_disk(self) -> None:
        folder = self.scene.folder / "full"
        folder.mkdir()
        mount = f'mount -t tmpfs -o size=1m none "{folder}" && exec "$0" "$@"'
        server = start_authserver(
            self.scene,
            None,
            *PLAIN,
            "--sqlite-path",
            folder / "accounts.db",
            prefix=[*NAMESPACES, "sh", "-c", mount],
        )
        self.assertEqual(self.client(server).ask("new:amy:pw"), "OK")
        # As the server sees it.
        rest = Path(f"/proc/{server.pid}/root{folder}/rest")
        with self.assertRaises(OSError), rest.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        self.refuses(server, "full")
        rest.unlink()
        self.takes_again(server)

    def refuses(self, server: Program, reason: str) -> None:
        client = self.client(server)
        for _ in range(3):
            self.assertEqual(client.ask("new:bob:pw"), "unavailable")
            self.assertEqual(client.ask("auth:amy:pw"), "OK")
        log = server.log()
        self.assertEqual(log.count("the store takes no changes of accounts"), 1)
        self.assertIn(reason, log)
        self.assertNotIn("reachable", log)
        self.assertNotIn("takes changes of accounts again", log)

    def takes_again(self, server: Program) -> None:
        self.assertEqual(self.client(server).ask("new:bob:pw"), "OK")
        self.assertEqual(server.log().count("the store takes changes of accounts again"), 1)
