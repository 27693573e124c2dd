"""When more passwords wait to be hashed than can be hashed in two seconds."""

from scene import SceneTest

CLIENTS = 800  # one hash takes 5 to 20 ms, so all of them take at least 4 s


class HashWaitTest(SceneTest):
    def test_who_waits_for_too_long_is_told_unavailable(self) -> None:
        server = self.scene.authserver("--hashes-at-once", "1", "--store-timeout", "60")
        clients = [self.scene.client(server) for _ in range(CLIENTS)]
        for number, client in enumerate(clients):
            client.send(f"new:user{number}:pw\n")
        replies = [client.reply() for client in clients]
        self.assertEqual(set(replies), {"OK", "unavailable"})
        self.assertGreater(replies.count("unavailable"), CLIENTS // 8)
