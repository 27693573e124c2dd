"""Tokens, which speak for a user without the password: in each store and model, on two hosts."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import e2e_path  # noqa: F401
import waiting
from accounts_scene import STORES, AccountsScene
from client import Client
from store_scene import PATIENT, PLAIN

PLACES = 32


class TokensTest(AccountsScene):
    def two(self, kind: str, *flags: str) -> tuple[Client, Client]:
        """Clients of two authservers on one store, of which one has a process for each client."""
        store = (*self.store(kind), *PATIENT, *flags)
        thread, process = (
            self.scene.authserver(*store, "--model", model) for model in ("thread", "process")
        )
        return self.client(thread), self.client(process)

    def opened(self, client: Client, user: str, password: str = "one", seconds: int = 600) -> str:
        token = client.ask(f"open:{seconds}:{user}:{password}")
        assert isinstance(token, bytes), token
        self.assertRegex(token, rb"\A[A-Za-z0-9_-]{43}\Z")
        return token.decode()

    def assert_good(self, token: str, user: str, *clients: Client) -> None:
        for client in clients:
            self.assertEqual(client.ask(f"token:{token}"), f"user {user}".encode())

    def assert_ended(self, token: str, *clients: Client) -> None:
        for client in clients:
            self.assertEqual(client.ask(f"token:{token}"), "denied")

    @staticmethod
    def is_ended(client: Client, token: str) -> bool:
        return client.ask(f"token:{token}") == "denied"

    def test_a_token_is_known_at_every_authserver_of_the_store_until_it_is_closed(self) -> None:
        for kind in STORES:
            for flags in ((), (*PLAIN, "--store-connection", "per-request")):
                with self.subTest(kind, flags=flags):
                    one, other = self.two(kind, *flags)
                    user = f"{kind}.close{len(flags)}"
                    self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                    self.assertEqual(one.ask(f"open:600:{user}:two"), "denied")
                    self.assertEqual(one.ask(f"open:600:{user}none:one"), "denied")
                    first, second = self.opened(one, user), self.opened(other, user)
                    for token in (first, second):
                        self.assert_good(token, user, one, other)
                    lines = [f"token:{first}", f"auth:{user}:one", "token:no", f"token:{second}"]
                    said = other.ask_all([line.encode() for line in lines])
                    holder = f"user {user}".encode()
                    self.assertEqual(said, [holder, "OK", "denied", holder])
                    self.assertEqual(other.ask(f"close:{first}"), "OK")
                    self.assertEqual(other.ask(f"close:{first}"), "OK")
                    self.assert_ended(first, one, other)
                    self.assert_good(second, user, one, other)

    def test_tokens_end_with_their_account_and_with_its_password(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.ends"
                one, other = self.two(kind)
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                self.assertEqual(one.ask(f"new:{user}x:one"), "OK")
                tokens = [self.opened(one, user), self.opened(other, user)]
                bystander = self.opened(one, user + "x")
                self.assertEqual(one.ask(f"password:{user}:3:two:three"), "denied")
                self.assert_good(tokens[0], user, one, other)
                self.assertEqual(one.ask(f"password:{user}:3:one:two"), "OK")
                for token in tokens:
                    self.assert_ended(token, one, other)
                self.assertEqual(other.ask(f"auth:{user}:one"), "denied")
                token = self.opened(other, user, "two")
                self.assert_done("password", user, *store, said="three\n")
                self.assert_ended(token, one, other)
                token = self.opened(other, user, "three")
                self.assert_done("remove", user, *store)
                self.assert_ended(token, one, other)
                self.assertEqual(one.ask(f"new:{user}:three"), "OK")
                self.assert_ended(token, one, other)
                self.assert_good(bystander, user + "x", one, other)

    def test_a_token_of_an_account_that_comes_back_with_the_same_record_stays_ended(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.back"
                one, other = self.two(kind, *PLAIN)
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                token = self.opened(one, user)
                self.assert_done("remove", user, *store)
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                self.assert_ended(token, one, other)
                token = self.opened(one, user)
                self.assert_done("password", user, *store, *PLAIN, said="one\n")
                self.assert_ended(token, one, other)

    def test_a_disabled_account_is_denied_at_once_on_each_host_and_loses_nothing(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.disabled"
                clients = self.two(kind)
                self.assertEqual(clients[0].ask(f"new:{user}:one"), "OK")
                tokens = [self.opened(client, user) for client in clients]
                self.assert_done("admin", user, "on", *store)
                self.assert_done("disable", user, *store)
                self.assertIn(f"account {user} is disabled in {kind} ", self.why)
                asked = [f"auth:{user}:one", f"open:60:{user}:one", f"password:{user}:3:one:two"]
                asked += [f"token:{token}" for token in tokens]
                for client in clients:
                    said = client.ask_all([line.encode() for line in asked])
                    self.assertEqual(said, ["denied"] * len(asked))
                    self.assertEqual(client.ask(f"new:{user}:two"), "exists")
                # A new password does not enable it, and its sessions end with that.
                self.assert_done("enable", user, *store)
                for token in tokens:
                    self.assert_good(token, user, *clients)
                self.assert_done("disable", *store, user)
                self.assert_done("password", user, *store, said="two\n")
                self.assertIn("stays disabled", self.why)
                self.assertEqual(clients[0].ask(f"auth:{user}:two"), "denied")
                self.assert_done("enable", user, *store)
                self.assertEqual(clients[1].ask(f"auth:{user}:two"), "OK")
                self.assert_ended(tokens[0], *clients)
                exported = self.accounts("export", *store)[1]
                self.assertRegex(exported, rf'"{user}","\$is\$admin\$\$argon2id\$')
                self.assert_done("admin", user, "off", *store)
                self.assertIn("is no administrator in", self.why)
                self.assertEqual(clients[1].ask(f"auth:{user}:two"), "OK")
                for command in ("disable", "enable"):
                    self.assert_fails(1, "no such user", command, f"{user}none", *store)
                self.assert_fails(1, "no such user", "admin", f"{user}none", "on", *store)

    def test_application_passwords_and_links_hold_and_end_on_each_host(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user, boss = self.store(kind), f"{kind}.app", f"{kind}.boss"
                one, other = self.two(kind)
                for name in (user, boss):
                    self.assertEqual(one.ask(f"new:{name}:one"), "OK")
                self.assert_done("admin", boss, "on", *store)
                by, by_boss = f"by:{user}:3:one", f"by:{boss}:3:one"
                app, second = (self.content(one, f"{by}:app:{name}") for name in ("a:b", "c"))
                identity, _, password = app.partition(" ")
                for client in (one, other):
                    self.assertEqual(client.ask(f"auth:{user}:{password}"), "OK")
                    self.assertEqual(client.ask(f"auth:{boss}:{password}"), "denied")
                    told = client.ask(f"by:{user}:43:{password}:who")
                    self.assertEqual(told, f"{user} user app".encode())
                self.assertEqual(one.ask(f"password:{user}:3:one:two"), "OK")
                by = f"by:{user}:3:two"
                listed = self.content(other, f"{by}:apps").splitlines()
                self.assertEqual([line.split()[0] for line in listed], [identity, second[:22]])
                self.assertTrue(listed[0].endswith(" 0 a:b"), listed)
                self.assertEqual(other.ask(f"auth:{user}:{password}"), "OK")
                self.assertEqual(other.ask(f"{by}:revoke:{identity}"), "OK")
                self.assertEqual(one.ask(f"auth:{user}:{password}"), "denied")
                link = self.content(other, f"{by_boss}:reset:{user}")
                self.assertEqual(one.ask(f"as:{link}:password:three"), "OK")
                self.assertEqual(other.ask(f"as:{link}:password:four"), "denied")
                self.assertEqual(other.ask(f"auth:{user}:three"), "OK")
                line = f"auth:{user}:{second[23:]}"
                for wish, said in (("disable", "denied"), ("enable", "OK"), ("remove", "denied")):
                    self.assertEqual(one.ask(f"{by_boss}:{wish}:{user}"), "OK")
                    self.assertEqual(other.ask(line), said)
                link = self.content(one, f"{by_boss}:add:{user}")
                self.assertEqual(other.ask(f"as:{link}:password:one"), "OK")
                self.assertEqual(one.ask(line), "denied")
                names = self.content(other, f"{by_boss}:list").splitlines()
                self.assertIn(f"{boss} admin", names)
                self.assertFalse([name for name in names if name.startswith(":")])

    def test_however_many_use_a_link_at_once_each_of_its_uses_is_granted_once(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                user, path = f"{kind}.guests", "a/\u00fc b.txt"
                store = (*self.store(kind), *PATIENT, *PLAIN)
                clients = [
                    self.client(server)
                    for model in ("thread", "process")
                    for server in [self.scene.authserver(*store, "--model", model)] * 4
                ]
                one = clients[0]
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                made = self.content(one, f"by:{user}:3:one:link:read:0:20:-:{path}")
                identity, _, token = made.partition(" ")
                said: list[object] = []
                lines = [f"as:{token}:use:-".encode()] * 5

                def use(client: Client, said: list[object], lines: list[bytes]) -> None:
                    said.extend(client.ask_all(lines))

                threads = [
                    threading.Thread(target=use, args=(client, said, lines)) for client in clients
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(said.count("denied"), 20)
                granted = sorted(reply for reply in said if isinstance(reply, bytes))
                wanted = [f"open {identity} {user} read {left} {path}" for left in range(1, 21)]
                self.assertEqual(granted, sorted(line.encode() for line in wanted))
                for client in clients:
                    self.assertEqual(client.ask(f"as:{token}:visit:-"), "denied")
                self.assertEqual(one.ask(f"by:{user}:3:one:links"), "OK")

    def test_however_many_make_links_at_once_none_is_left_that_nobody_can_end(self) -> None:
        """At two authservers, which take the places of one user from each other."""
        for kind in STORES:
            with self.subTest(kind):
                user = f"{kind}.maker"
                store = (*self.store(kind), *PATIENT, *PLAIN)
                servers = [self.scene.authserver(*store) for _ in range(2)]
                clients = [self.client(server) for server in servers * 4]
                self.assertEqual(clients[0].ask(f"new:{user}:one"), "OK")
                line = f"by:{user}:3:one:link:read:0:0:-:a".encode()
                with ThreadPoolExecutor(len(clients)) as threads:
                    told = list(threads.map(lambda one: one.ask_all([line] * 9), clients))
                said = [reply for replies in told for reply in replies]
                made = {reply.decode().split()[0] for reply in said if isinstance(reply, bytes)}
                self.assertEqual((len(made), said.count("exists")), (64, 8))
                lines = self.content(clients[1], f"by:{user}:3:one:links").splitlines()
                self.assertEqual({one.split()[0] for one in lines}, made)

    def content(self, client: Client, line: str) -> str:
        said = client.ask(line)
        assert isinstance(said, bytes), said
        return said.decode()

    def test_who_changes_his_password_all_the_time_is_disabled_all_the_same(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.busy"
                one, other = self.two(kind, *PLAIN)
                self.assertEqual(one.ask(f"new:{user}:0"), "OK")
                lines = [
                    f"password:{user}:{len(str(now))}:{now}:{now + 1}".encode()
                    for now in range(100)
                ]
                said: list[object] = []
                changing = threading.Thread(target=lambda: said.extend(one.ask_all(lines)))
                changing.start()
                self.assert_done("disable", user, *store)
                changing.join()
                self.assertTrue(set(said) <= {"OK", "denied"}, set(said))
                asked = [f"auth:{user}:{password}".encode() for password in range(101)]
                self.assertEqual(set(other.ask_all(asked)), {"denied"})

    def test_a_token_ends_with_its_time(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                user = f"{kind}.time"
                one, other = self.two(kind)
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                token = self.opened(one, user, seconds=1)
                kept = self.opened(one, user, seconds=7776000)
                waiting.eventually(partial(self.is_ended, one, token), "the token has ended")
                self.assert_ended(token, one, other)
                self.assert_good(kept, user, one, other)

    def test_however_many_open_at_once_a_user_has_so_many_tokens(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                user = f"{kind}.many"
                server = self.scene.authserver(*self.store(kind), *PATIENT, *PLAIN)
                one = self.client(server)
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                tokens: list[str] = []

                def open_some(user: str, client: Client, tokens: list[str]) -> None:
                    for _ in range(PLACES // 2):
                        tokens.append(self.opened(client, user))

                threads = [
                    threading.Thread(target=open_some, args=(user, self.client(server), tokens))
                    for _ in range(4)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                said = [one.ask(f"token:{token}") for token in tokens]
                self.assertEqual(len(said), 2 * PLACES)
                self.assertEqual(said.count("denied"), PLACES)

    def test_tokens_are_no_accounts_to_anybody(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.nobody"
                one, _ = self.two(kind)
                self.assertEqual(one.ask(f"new:{user}:one"), "OK")
                before = self.accounts("list", *store)
                token = self.opened(one, user)
                self.assertEqual(self.accounts("list", *store), before)
                status, exported = self.accounts("export", *store)
                self.assertEqual(status, 0)
                self.assertIn(f'"{user}",', exported)
                self.assertFalse([line for line in exported.splitlines() if line.startswith('":')])
                self.assertNotIn("$token$", exported)
                self.assertNotIn(token, exported)
