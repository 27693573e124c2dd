"""A stack on three real nodes keeps its promises while a node dies and while it is updated."""

import unittest
from functools import partial

import nodes
import three_nodes
from three_nodes import SERVERS, WITHIN_S
from waiting import eventually

# In an update each request is answered within this time, with all its repetitions. If all servers
# of a kind ended at once, a new one would not be healthy before that.
ANSWERED_WITHIN_S = 10.0


@unittest.skipIf(nodes.why_not(), nodes.why_not())
class ThreeNodes(three_nodes.Case):
    kind = "three"
    # The store is on the first node, which no test kills.
    settings = {"STORE_NODE": "node.hostname == node-1"}

    def test_each_node_got_one_of_each_server(self) -> None:
        each = [node.name for node in self.swarm.nodes]
        self.assertEqual(self.placed_first, dict.fromkeys(SERVERS, each))

    def test_an_update_of_all_servers_fails_no_request_that_is_repeated(self) -> None:
        before = {name: set(self.placed(name)) for name in SERVERS}
        load = self.begin_load("update")
        for name in SERVERS:
            self.first.docker("service", "update", "--force", "--detach", f"{self.stack}_{name}")
        for name in SERVERS:
            eventually(partial(self.is_updated, name), f"{name} is updated", WITHIN_S)
        load.wait_for_answers(200)
        told, _ = self.check(load)
        self.assertLess(told["slowest_s"], ANSWERED_WITHIN_S)
        for name in SERVERS:
            self.assertEqual(before[name] & set(self.placed(name)), set(), "all were replaced")

    def is_updated(self, service: str) -> bool:
        form = ["--format", "{{.UpdateStatus.State}}"]
        state = self.first.docker("service", "inspect", *form, f"{self.stack}_{service}").strip()
        self.assertIn(state, ("updating", "completed"))
        return state == "completed"

    def test_a_node_that_dies_costs_no_wrong_answer_and_no_account(self) -> None:
        load = self.begin_load("death")
        last = self.swarm.nodes[-1]
        last.kill()
        load.wait_for_answers(2000)
        self.swarm.wait_for_nodes(nodes.COUNT - 1)
        self.wait_for_replicas(nowhere=last.name)
        load.wait_for_answers(200)
        self.check(load)
        last.start()
        self.swarm.wait_for_nodes(nodes.COUNT)
