"""The whole system with its accounts in MySQL."""

from on_a_store import OnAStore


class OnMySQL(OnAStore):
    STORE = "mysql"


del OnAStore  # the base is not a test
