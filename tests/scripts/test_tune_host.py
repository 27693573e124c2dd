"""scripts/tune-host, in a network namespace of its own. This host's settings stay as they are."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from host import NOBODY, SCRIPTS, ScriptTest, in_namespace, run, why_no_namespace, why_not_root

TUNE_HOST = SCRIPTS / "tune-host"
NO_NETWORK = why_no_namespace("--net")

# Every setting is too small. `values` prints them all, so that two moments can be compared.
POOR_HOST = """
cd /proc/sys/net
values() {
  tail -n +1 core/somaxconn ipv4/ip_local_port_range \
    ipv4/tcp_{tw_reuse,max_tw_buckets,congestion_control} /proc/sys/fs/file-max
}
# That of open files is of the whole host. A file stands for it, in a mount namespace.
[[ $(readlink /proc/self/ns/mnt) != "$(readlink /proc/$PPID/ns/mnt)" ]]
file_max=$(mktemp); echo 5000 >"$file_max"; mount --bind "$file_max" /proc/sys/fs/file-max
rm "$file_max"
echo 100 >core/somaxconn; echo 40000 40100 >ipv4/ip_local_port_range
echo 0 >ipv4/tcp_tw_reuse; echo 1000 >ipv4/tcp_max_tw_buckets
tune() { "$1" --state "$2" "${@:3}"; }
"""


@unittest.skipIf(NO_NETWORK, NO_NETWORK)
class TuneHostTest(ScriptTest):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.state = Path(scratch.name) / "state"

    def on_poor_host(self, script: str):
        own = ("unshare", "--net", "--mount", "bash", "-euc")
        return run(*own, POOR_HOST + script, "bash", TUNE_HOST, self.state)

    def rows(self, table: str) -> dict[str, str]:
        """Returns the verdict of each setting in the last table."""
        words = ("ok", "short", "unused")
        lines = [line.split() for line in table.splitlines() if line.startswith(("net.", "fs."))]
        return {line[0]: next((word for word in line if word in words), "") for line in lines}

    def test_shows_what_is_short_and_changes_nothing(self) -> None:
        result = self.on_poor_host('before=$(values); tune "$@"; [[ $before == "$(values)" ]]')
        self.assertEqual(result.returncode, 0, result.stderr)
        short = {name for name, verdict in self.rows(result.stdout).items() if verdict == "short"}
        self.assertLessEqual(
            {
                "net.core.somaxconn",
                "net.ipv4.ip_local_port_range",
                "net.ipv4.tcp_tw_reuse",
                "net.ipv4.tcp_max_tw_buckets",
                "fs.file-max",
            },
            short,
        )
        self.assertFalse(self.state.exists())

    def test_apply_leaves_nothing_short(self) -> None:
        result = self.on_poor_host('tune "$@" --apply')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("short", self.rows(result.stdout).values())
        self.assertIn("\nafter:\n", result.stdout)

    def test_undo_restores_exactly_what_the_first_of_two_applies_found(self) -> None:
        result = self.on_poor_host("""
            before=$(values)
            tune "$@" --apply; echo 200 >core/somaxconn; tune "$@" --apply
            [[ $before != "$(values)" ]]
            tune "$@" --undo
            diff <(echo "$before") <(values) >&2
        """)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(self.state.exists())

    def test_undo_without_apply_has_nothing_to_do(self) -> None:
        result = self.on_poor_host('tune "$@" --undo')
        self.assertEqual(
            (result.returncode, result.stdout), (0, f"nothing to undo: there is no {self.state}\n")
        )

    def test_values_of_another_network_namespace_are_not_restored(self) -> None:
        self.state.write_text("namespace = net:[1]\nnet.core.somaxconn = 7\n")
        for action in ("--apply", "--undo"):
            result = self.on_poor_host(f'tune "$@" {action} || {{ cat core/somaxconn; exit 1; }}')
            self.assertEqual((result.returncode, result.stdout), (1, "100\n"))
            self.assertIn("another network namespace", result.stderr)

    def test_what_the_kernel_refuses_is_named_and_undo_still_works(self) -> None:
        """somaxconn is read-only, as in a container."""
        result = in_namespace(
            "--net",
            f"""unshare --mount bash -euc '{POOR_HOST}
            mount --bind core/somaxconn core/somaxconn; mount -o remount,ro,bind core/somaxconn
            before=$(values); ! tune "$@" --apply
            tune "$@" --undo; [[ $before == "$(values)" ]]' bash "$@" """,
            TUNE_HOST,
            self.state,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            result.stderr,
            "tune-host: the kernel refused: net.core.somaxconn (Read-only file system)\n",
        )

    def test_a_short_limit_on_open_files_comes_with_the_line_that_raises_it(self) -> None:
        result = in_namespace("--net", 'ulimit -n 1000; unset SUDO_USER; "$1"', TUNE_HOST)
        self.assertRegex(result.stdout, r"ulimit -H -n +1000 +at least 64000 +short")
        self.assertIn("'root hard nofile 64000' to /etc/security/limits.conf", result.stdout)


class TuneHostUsageTest(ScriptTest):
    @unittest.skipIf(why_not_root(), why_not_root())
    def test_without_root_apply_names_sudo_and_show_works(self) -> None:
        # The user nobody may not be able to read the project's own folder.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            script = shutil.copy(TUNE_HOST, folder)
            self.assert_one_line(
                run(*NOBODY, script, "--apply"), 1, "sudo scripts/tune-host --apply"
            )
            self.assertEqual(run(*NOBODY, script).returncode, 0)

    def test_wrong_usage_is_one_line(self) -> None:
        self.assert_one_line(run(TUNE_HOST, "--apply", "--undo"), 2, "--undo")
        self.assert_one_line(run(TUNE_HOST, "--state"), 2, "--state")
        self.assert_one_line(run(TUNE_HOST, "--all"), 2, "'--all'")
