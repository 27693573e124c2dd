"""With MariaDB's autocommit off, every acknowledged account is committed all the same."""

import e2e_path  # noqa: F401
from store_scene import PATIENT, PLAIN, StoreTest, combinations, flags_of

SETTINGS = ("--autocommit=0", "--init-connect=SET autocommit=0")


class AutocommitTest(StoreTest):
    kinds = ("mysql",)

    def test_an_account_is_there_for_all_once_it_is_acknowledged(self) -> None:
        mysql = self.databases["mysql"]
        for number, setting in enumerate(SETTINGS):
            mysql.restart(setting)
            for combination in combinations():
                with self.subTest(setting=setting, combination=combination):
                    user = "-".join((f"user{number}", *combination))
                    client = self.client(
                        self.authserver("mysql", *flags_of(combination), *PATIENT, *PLAIN)
                    )
                    for name in (
                        user,
                        f"{user}-again",
                    ):  # on a connection that is kept, the second one too
                        self.assertEqual(client.ask(f"new:{name}:pw"), "OK")
                        self.assertEqual(mysql.record_of(name), "$plain$pw")
                    self.assertEqual(client.ask(f"new:{user}:pw"), "exists")
                    self.assertEqual(client.ask(f"auth:{user}:pw"), "OK")

    def test_a_refused_account_stays_unlocked(self) -> None:
        mysql = self.databases["mysql"]
        mysql.restart(SETTINGS[0])
        maker = self.client(self.authserver("mysql", *PATIENT, *PLAIN))
        self.assertEqual(maker.ask("new:locked:pw"), "OK")
        other = self.client(self.authserver("mysql", *PATIENT, *PLAIN))
        self.assertEqual(other.ask("new:locked:pw"), "exists")  # its first statement
        mysql.ask(
            "SET innodb_lock_wait_timeout = 1; SET autocommit = 1;"
            "DELETE FROM turnstile.accounts WHERE name = 'locked'"
        )
        self.assertEqual(mysql.record_of("locked"), "")

    def test_a_kept_connection_sees_what_others_do(self) -> None:
        for number, setting in enumerate(SETTINGS):
            with self.subTest(setting):
                self.databases["mysql"].restart(setting)
                server = self.authserver("mysql", *PATIENT, *PLAIN)
                maker, other, idler = (self.client(server) for _ in range(3))
                self.assertEqual(idler.ask("ping"), "OK")
                self.assertEqual(other.ask(f"auth:late{number}:pw"), "denied")
                self.assertEqual(maker.ask(f"new:late{number}:pw"), "OK")
                for client in (other, idler):
                    self.assertEqual(client.ask(f"auth:late{number}:pw"), "OK")
