"""scripts/setup-redis on a server of the tests' own."""

import os
import subprocess

import e2e_path  # noqa: F401
from databases import SCRIPTS, Redis, secret_file
from scene import SceneTest

PASSWORD = "Xyzzy-Plugh"


class FreshRedis(Redis):
    """All its settings are in its file, or, without it, on its command line."""

    usual = ()
    reads_its_file = True

    def flags(self) -> list[str]:
        _file, *others = super().flags()
        return super().flags() if self.reads_its_file else [*others, "--requirepass", PASSWORD]


class SetupRedisTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.redis = FreshRedis(self.scene.folder / "redis", password=PASSWORD)
        self.addCleanup(self.redis.close)
        self.password_file = secret_file(self.scene.folder / "password", PASSWORD + "\n")
        self.state = self.scene.folder / "state" / "redis"

    def run_script(self, *flags: object, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                SCRIPTS / "setup-redis",
                "--port",
                str(self.redis.port),
                "--state",
                str(self.state),
                *map(str, flags),
            ],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | env,
        )

    def set_up(self, *flags: str) -> str:
        done = self.run_script("--password-file", self.password_file, *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn(PASSWORD, done.stdout)
        return done.stdout

    def settings(self) -> tuple[str, ...]:
        return tuple(
            self.redis.ask("config", "get", name).split("\n")[1]
            for name in ("appendonly", "appendfsync")
        )

    def stricter_settings(self) -> dict[str, str]:
        """What else can lose a write that was acknowledged."""
        return {
            name: self.redis.ask("config", "get", name).split("\n")[1]
            for name in ("no-appendfsync-on-rewrite", "maxmemory-policy")
        }

    def test_no_account_is_evicted_and_a_rewrite_of_the_log_does_not_stop_its_syncs(self) -> None:
        weak = {"no-appendfsync-on-rewrite": "yes", "maxmemory-policy": "allkeys-lru"}
        for name, value in weak.items():
            self.redis.ask("config", "set", name, value)
        self.set_up()
        strict = {"no-appendfsync-on-rewrite": "no", "maxmemory-policy": "noeviction"}
        self.assertEqual(self.stricter_settings(), strict)
        self.redis.restart()
        self.assertEqual(self.stricter_settings(), strict)
        self.set_up("--undo")
        self.assertEqual(self.stricter_settings(), weak)

    def test_a_server_that_denies_config_is_told_of_in_one_line_and_leaves_no_state(self) -> None:
        self.redis.ask("acl", "setuser", "default", "-config")
        secret = ("--password-file", self.password_file)
        self.assert_fails(1, "NOPERM", *secret)
        self.assertFalse(self.state.exists())
        self.assert_fails(1, "NOPERM", *secret)
        self.redis.ask("acl", "setuser", "default", "+config")
        self.set_up()
        self.set_up("--undo")
        self.assertEqual(self.settings(), ("no", "everysec"))

    def test_a_state_without_a_value_is_completed_before_anything_is_changed(self) -> None:
        self.state.parent.mkdir(parents=True)
        self.state.write_text("appendfsync \nappendonly yes\n")
        self.set_up()
        self.assertEqual(
            self.state.read_text(),
            "appendfsync everysec\nappendonly yes\n"
            "no-appendfsync-on-rewrite no\nmaxmemory-policy noeviction\n",
        )

    def test_every_write_is_on_the_disk_before_its_ok_and_stays_so(self) -> None:
        self.redis.ask("set", "user:early", "$plain$pw")
        shown = self.set_up()
        self.assertIn("before:  appendfsync 'everysec'  appendonly 'no'", shown)
        self.assertIn("after:   appendfsync 'always'  appendonly 'yes'", shown)
        self.redis.ask("set", "user:late", "$plain$pw")
        self.redis.kill()
        self.redis.start()
        self.assertEqual(self.settings(), ("yes", "always"))
        self.assertEqual(self.redis.ask("mget", "user:early", "user:late"), "$plain$pw\n$plain$pw")

    def test_undo_restores_what_the_first_of_two_runs_found_and_loses_nothing(self) -> None:
        self.redis.ask("config", "set", "appendfsync", "no")
        self.set_up()
        self.set_up()
        self.redis.ask("set", "user:late", "$plain$pw")
        self.set_up("--undo")
        self.assertEqual(self.settings(), ("no", "no"))
        self.redis.kill()
        self.redis.start()
        self.assertEqual(self.settings(), ("no", "no"))
        self.assertEqual(self.redis.ask("get", "user:late"), "$plain$pw")
        self.assertIn("nothing to undo", self.set_up("--undo"))

    def test_a_server_without_a_configuration_file_is_told_of(self) -> None:
        self.redis.reads_its_file = False
        self.redis.restart()
        done = self.run_script(REDISCLI_AUTH=PASSWORD)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("until the server's next start only", done.stderr)
        self.assertEqual(self.settings(), ("yes", "always"))

    def assert_fails(self, status: int, words: str, *flags: object, **env: str) -> None:
        done = self.run_script(*flags, **env)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1), done.stderr)
        self.assertIn(words, done.stderr)

    def test_what_stands_in_its_way_is_said_in_one_line(self) -> None:
        self.assert_fails(1, "NOAUTH")
        self.assert_fails(1, "WRONGPASS", REDISCLI_AUTH="wrong")
        self.assert_fails(1, "nowhere", "--password-file", self.scene.folder / "nowhere")
        self.redis.stop()
        self.assert_fails(1, "start it")
        for flags in (["--port"], ["word"], ["--unknown", "x"], ["--port", "x"]):
            with self.subTest(flags):
                self.assert_fails(2, "", *flags)
        self.assertIn("usage:", self.run_script("--help").stdout)
