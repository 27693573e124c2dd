"""A stack of docker/sentinel.yml on three nodes keeps its accounts when the primary's node dies."""

import time
import unittest
from functools import partial

import nodes
import three_nodes
from redis_nodes import NAMES, RedisNode
from three_nodes import WITHIN_S, Load
from waiting import eventually

# A sentinel waits for two seconds before it calls a server down. The machine may be very loaded;
# without sentinels no account would be made again at all.
ACCOUNTS_AGAIN_WITHIN_S = 100.0
# A server that looks up a name without a server would not answer for 10 s or more.
ANSWERED_WITHIN_S = 5.0
LOOKS_AGAIN_S = 0.5
# How long the replicas get nothing before the node dies.
BEHIND_S = 1.0


@unittest.skipIf(nodes.why_not(), nodes.why_not())
class Sentinel(three_nodes.Case):
    """redis-1, which is the first primary, is on the last node."""

    kind = "sentinel"
    changes = ("docker/sentinel.yml",)
    labels = {"node-3": "redis=1", "node-1": "redis=2", "node-2": "redis=3"}

    def setUp(self) -> None:
        numbers = {label[-1]: node for node, label in self.labels.items()}
        by_name = {node.name: node for node in self.swarm.nodes}
        self.all = {name: RedisNode(by_name[numbers[name[-1]]], self.stack, name) for name in NAMES}
        self.dying = self.swarm.nodes[-1]
        self.replicas = [self.all["redis-2"], self.all["redis-3"]]
        self.sentinels = [self.all["sentinel-2"], self.all["sentinel-3"]]

    def excuses(self, wrong: str) -> bool:
        """An account that was not acknowledged made its name taken, and was lost with its node."""
        return wrong.startswith("the name was known to be taken")

    def wait_for_group(self, primary: str) -> None:
        """Until the sentinels on the nodes that stay know all servers and each other."""

        def complete(sentinel: RedisNode) -> bool:
            return sentinel.sees() == (2, 2) and sentinel.primary() == primary

        for one in self.sentinels:
            eventually(partial(complete, one), f"{one.name} knows all", WITHIN_S)

    def kill_primary(self) -> float:
        """Its replicas lack what it did last. Returns when it was killed."""
        old = self.all["redis-1"]
        for one in self.replicas:
            address = old.inside(f"getent ahostsv4 {one.name}").split()[0]
            drop = ["ip", "route", "add", "blackhole", address]
            self.dying.in_network_of(old.container(), *drop)
        time.sleep(BEHIND_S)
        self.dying.kill()
        return time.monotonic()

    def test_a_primary_whose_node_dies_costs_no_account_and_comes_back_as_a_replica(self) -> None:
        self.wait_for_group("redis-1")
        self.check_that_nobody_sees_the_password()
        load = self.begin_load("primary")
        killed_at = self.kill_primary()
        load.wait_for_answers(2000)
        self.swarm.wait_for_nodes(nodes.COUNT - 1)
        self.wait_for_replicas(nowhere=self.dying.name)
        self.check_that_names_without_a_server_stop_nobody()
        load.wait_for_answers(500)
        self.check_accounts_since(killed_at, load)
        self.check_return()
        self.check_that_a_primary_that_hangs_is_replaced()

    def check_accounts_since(self, lost_at: float, load: Load) -> None:
        """None is lost, and soon after the primary was lost some were made again."""
        _, operations = self.check(load)
        made = [one for one in operations if one.kind == "new" and one.answer == "OK"]
        again = min(one.completed for one in made if one.invoked > lost_at) - lost_at
        print(f"an account was made {again:.1f} s after the primary was lost")
        self.assertLess(again, ACCOUNTS_AGAIN_WITHIN_S)

    def check_that_names_without_a_server_stop_nobody(self) -> None:
        """The swarm does not know the names of a dead node any more."""
        lost = "! timeout 1 getent -s dns ahostsv4 {} && echo lost"
        for one in (*self.replicas, *self.sentinels):
            for name in ("redis-1", "sentinel-1"):
                script = lost.format(name)
                eventually(partial(one.inside, script), f"{name} is lost at {one.name}", WITHIN_S)
            for _ in range(3):
                began = time.monotonic()
                self.assertEqual(one.ask("ping"), ["PONG"])
                self.assertLess(time.monotonic() - began, ANSWERED_WITHIN_S, one.name)
                time.sleep(LOOKS_AGAIN_S)

    def check_return(self) -> None:
        """The old primary never is a second one. It gets all accounts and may follow again."""
        primary = self.sentinels[0].primary()
        self.assertIn(primary, [one.name for one in self.replicas])
        self.dying.start()
        self.swarm.wait_for_nodes(nodes.COUNT)
        old = self.all["redis-1"]
        self.assertEqual(eventually(old.role, "redis-1 answers", WITHIN_S), "slave")
        eventually(lambda: old.follows() == primary, f"it follows {primary}", WITHIN_S)
        self.wait_for_group(primary)
        roles = [self.all[name].role() for name in NAMES if name.startswith("redis")]
        self.assertEqual(sorted(roles), ["master", "slave", "slave"])
        sizes = {name: self.all[name].ask("dbsize") for name in ("redis-1", primary)}
        self.assertEqual(sizes["redis-1"], sizes[primary])

    def check_that_a_primary_that_hangs_is_replaced(self) -> None:
        """It may be by the one that was away."""
        primary = self.all[self.sentinels[0].primary()]
        load = self.begin_load("hangs")
        primary.node.docker("pause", primary.container())
        lost_at = time.monotonic()
        load.wait_for_answers(2500)
        self.check_accounts_since(lost_at, load)
        primary.node.docker("unpause", primary.container())
        eventually(lambda: primary.role() == "slave", f"{primary.name} is a replica", WITHIN_S)

    def check_that_nobody_sees_the_password(self) -> None:
        for one in self.all.values():
            told = one.node.docker("inspect", one.container())
            told += one.inside("cat /proc/[0-9]*/cmdline")
            self.assertIn("redis-server", told)
            self.assertNotIn(self.password, told, one.name)
        for one in self.sentinels:
            readers = one.inside("stat --format '%U %a' /data/sentinel.conf").strip()
            self.assertEqual(readers, "redis 600")
