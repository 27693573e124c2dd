"""Tests of the whole system that pass on every store with a server of its own."""

import unittest
from typing import Any

from client import grant
from engine import System, run
from waiting import eventually

# The first process of the container is its init, which ignores signals from inside. So this looks
# for the processes named authserver.
KILL_AUTHSERVER = """
for process in /proc/[0-9]*; do
  [[ $(<"$process/comm") != authserver ]] || kill -9 "${process#/proc/}"
done 2>/dev/null || true
"""


class OnAStore(unittest.TestCase):
    """The base class of the tests on one store.

    All tests of a class share one running system, with the accounts that earlier tests made.
    """

    STORE: str
    system: System

    @classmethod
    def setUpClass(cls) -> None:
        cls.system = System(STORE=cls.STORE)
        cls.addClassCleanup(cls.system.remove)
        cls.system.up()

    def make_account(self, user: str) -> None:
        """Makes an account with the password `wonderland`."""
        self.assertEqual(self.system.ask(f"new:{user}:wonderland"), "OK")

    def require_no_fault(self, result: dict[str, Any], threads: int) -> None:
        """On a busy machine a store may need more than its two seconds, or the authserver more than
        its five, once for each thread."""
        errors = {cause: n for cause, n in result["errors"].items() if n and cause != "total"}
        log = self.system.log("authserver") + self.system.log("fileserver")
        self.assertLessEqual(set(errors), {"unavailable"}, log[-2000:])
        self.assertLessEqual(sum(errors.values()), threads, log[-2000:])
        if errors:
            self.assertIn("is unreachable", log)

    def test_only_the_chosen_store_runs(self) -> None:
        self.assertEqual(self.system.running(), {"network", "fileserver", "authserver", self.STORE})

    def test_a_granted_user_gets_the_exact_bytes_of_a_file(self) -> None:
        self.make_account("alice")
        client = self.system.client()
        self.addCleanup(client.close)
        self.assertEqual(client.ask("1KB7.txt"), "denied")
        grant(client, "alice")
        self.assertEqual(
            client.ask("1KB7.txt"),
            self.system.inside("fileserver", "cat /srv/files/1KB7.txt").encode(),
        )

    def test_a_load_has_no_errors_and_is_not_tracked(self) -> None:
        result = self.system.load("get", "--threads", "4", "--requests", "100", "--verify")
        self.require_no_fault(result, threads=4)
        self.assertEqual(result["requests"], 400 - result["errors"]["total"])
        table = "/proc/sys/net/netfilter/nf_conntrack_count"
        tracked = self.system.inside("fileserver", f"! [[ -e {table} ]] || cat {table}")
        self.assertLess(int(tracked or 0), 100, f"after {result['requests']} connections")

    def test_a_killed_authserver_is_restarted(self) -> None:
        self.make_account("ada")
        before = self.system.started_at("authserver")
        # The end of the container may end the script too, so its status says nothing.
        self.system.inside("authserver", KILL_AUTHSERVER, check=False)
        eventually(lambda: self.system.started_at("authserver") != before, "it is started again")
        answers = set()

        def is_back() -> bool:
            answers.add(self.system.ask("get:ada:wonderland"))
            return "OK" in answers

        eventually(is_back, "the authserver answers again")
        self.assertLessEqual(answers, {"OK", "unavailable"})
        self.assertEqual(self.system.ask("get:ada:wrong"), "denied")

    def test_accounts_are_still_there_after_down_and_up(self) -> None:
        self.make_account("bob")
        self.system.down()
        self.system.up()
        self.assertEqual(self.system.ask("get:bob:wonderland"), "OK")
        self.assertEqual(self.system.ask("new:bob:other"), "exists")

    def test_each_service_has_only_the_passwords_that_it_needs(self) -> None:
        listed = "ls /run/secrets 2>/dev/null || true"
        in_store = {"redis": "", "mysql": "mysql-root-password\n"}[self.STORE] + "store-password\n"
        self.assertEqual(self.system.inside(self.STORE, listed), in_store)
        self.assertEqual(self.system.inside("authserver", listed), "store-password\n")
        self.assertEqual(self.system.inside("fileserver", listed), "")
        in_loadgen = ["--entrypoint", "bash", "loadgen", "-c", listed]
        self.assertEqual(self.system.compose("run", "--rm", "-T", *in_loadgen), "load-password\n")

    def test_no_log_and_no_command_line_has_a_password(self) -> None:
        each = "for file in /run/secrets/*; do cat $file; echo; done"
        passwords = self.system.inside(self.STORE, each)
        shown = self.system.compose("logs") + run(
            "docker", "inspect", *self.system.containers("--all")
        )
        shown += "".join(
            run("docker", "top", container, "-eo", "pid,args")
            for container in self.system.containers()
        )
        for password in passwords.split():
            self.assertEqual(len(password), 48)
            self.assertNotIn(password, shown)

    def test_our_servers_are_not_root_and_cannot_write_outside_their_volume(self) -> None:
        for service in ("authserver", "fileserver"):
            self.assertEqual(self.system.inside(service, "id -u"), "10001\n")
            self.assertIn("Read-only", self.system.inside(service, "touch /tmp/x 2>&1 || true"))

    def test_our_servers_are_in_a_sandbox(self) -> None:
        for service in ("authserver", "fileserver"):
            log = self.system.log(service)
            self.assertRegex(log, 'sandbox restricts="[^"]*system calls"')

    def test_the_store_runs_without_privileges(self) -> None:
        status = self.system.inside(self.STORE, "cat /proc/1/status")
        self.assertRegex(status, r"CapEff:\s+0+\n")
        self.assertRegex(status, r"NoNewPrivs:\s+1\n")
        self.assertNotRegex(status, r"Uid:\s+0\s")

    def test_files_are_prefetched_with_o_direct_or_the_log_says_why_not(self) -> None:
        log = self.system.log("fileserver")
        self.assertTrue("direct_io=true" in log or log.count("refuses O_DIRECT") == 1, log)
