"""The whole system with its accounts in MySQL."""

from on_a_store import OnAStore

AS_ROOT = "MYSQL_PWD=$(cat /run/secrets/mysql-root-password) mysql -uroot -h127.0.0.1 --batch"


class OnMySQL(OnAStore):
    STORE = "mysql"

    def test_the_authserver_may_only_read_and_change_accounts(self) -> None:
        asked = f'{AS_ROOT} --skip-column-names --execute "SHOW GRANTS FOR turnstile"'
        granted = self.system.inside("mysql", asked).replace("`", "").splitlines()
        self.assertEqual(
            granted,
            [
                "GRANT USAGE ON *.* TO turnstile@%",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON turnstile.accounts TO turnstile@%",
            ],
        )


del OnAStore  # Without this, unittest would run the base class too.
