"""The whole system with its accounts in Redis."""

from on_a_store import OnAStore


class OnRedis(OnAStore):
    STORE = "redis"


del OnAStore  # the base is not a test
