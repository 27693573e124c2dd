"""Flags, environment and --config: which one wins, what --help shows, and what is wrong usage."""

import unittest

from flags import FLAGS, PATHS, STORES, not_shown, unlisted
from programs import run
from scene import SceneTest, create_account
from usage_scene import UsageScene

ALL_FLAGS = {**FLAGS, "authserver": (*FLAGS["authserver"], *STORES)}


class UsageTest(UsageScene):
    def test_an_empty_path(self) -> None:
        for program, names in PATHS.items():
            request = ["get"] if program == "loadgen" else []
            for name in names:
                config = self.written(f"{name} =\n")
                for given in ([f"--{name}="], [f"--{name}", ""], ["--config", config]):
                    with self.subTest(program=program, given=given):
                        self.assert_wrong_usage(program, *request, *given, named=name)

    def test_a_port_alone_is_one_of_the_loopback_address(self) -> None:
        authserver = self.scene.authserver("--listen", "0")
        fileserver = self.scene.fileserver(authserver.address.port, "--listen", "0")
        for server in (authserver, fileserver):
            self.assertEqual(server.address.host, "127.0.0.1")
        create_account(fileserver, "amy", "secret")

    def test_an_unknown_flag_a_word_too_many_or_a_missing_value(self) -> None:
        for program in FLAGS:
            for arguments in (
                ("--fish",),
                ("--fish", "1"),
                ("fish",),
                ("--listen",),
                ("-x",),
                ("-root", "x"),
                ("--version=1",),
                ("--listen", "127.0.0.1:0", "x"),
                ("--log_level", "info"),
                ("--", "x"),
                ("",),
                ("--drain-seconds", "1", "2"),
            ):
                with self.subTest(program=program, arguments=arguments):
                    self.assert_wrong_usage(program, *arguments)

    def test_an_unknown_name_in_the_file(self) -> None:
        for program in FLAGS:
            for line in (
                "fish = 1",
                "--listen = 127.0.0.1:0",
                "Listen = 127.0.0.1:0",
                "help = true",
                "version = true",
                "[section]",
                "listen",
                "= 1",
                "listen 127.0.0.1:0",
                "drain-seconds",
            ):
                with self.subTest(program=program, line=line):
                    self.assert_wrong_usage(
                        program,
                        "--config",
                        self.written(f"# a comment\n\ndrain-seconds = 1\n{line}\n"),
                    )

    def test_a_file_that_cannot_be_read(self) -> None:
        missing = self.scene.folder / "missing"
        for program in FLAGS:
            for path in (missing, self.scene.folder, "/proc/self/mem", ""):
                with self.subTest(program=program, path=path):
                    self.assert_wrong_usage(program, f"--config={path}")
            self.assert_wrong_usage(
                program, env={f"{program}_CONFIG".upper(): str(missing)}, named=str(missing)
            )

    def test_one_line_says_it_however_many_lines_the_value_has(self) -> None:
        for program in FLAGS:
            for arguments in (
                ("--listen", "a\nb"),
                ("--fish\nfish",),
                ("a\nb",),
                ("--model\n", "x"),
                ("--config", "a\nb"),
            ):
                with self.subTest(program=program, arguments=arguments):
                    self.assert_wrong_usage(program, *arguments)
            self.assert_wrong_usage(program, env={f"{program}_LISTEN".upper(): "a\nb\nc"})

    def test_sizes_and_seconds_in_every_form(self) -> None:
        for name, values in (
            ("memory-limit", ("0", "1", "4096", "1K", "2M", "3G")),
            ("idle-timeout", ("0", "1", "0.5", ".5", "3600")),
        ):
            for value in values:
                with self.subTest(name=name, value=value):
                    self.assert_wrong_usage(
                        "fileserver", f"--{name}", value, "--drain-seconds", "last", named="last"
                    )


class HelpTest(unittest.TestCase):
    def help_of(self, program: str) -> str:
        ended = run(program, "--help=all", env={"COLUMNS": "120"})
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def test_every_flag_is_shown_with_its_default_and_variable(self) -> None:
        for program, flags in ALL_FLAGS.items():
            text = self.help_of(program)
            self.assertEqual(not_shown(text, program, flags), [], text)

    def test_every_flag_that_is_shown_is_tested(self) -> None:
        for program, flags in ALL_FLAGS.items():
            self.assertEqual(unlisted(self.help_of(program), flags), [], program)

    def test_no_secret_is_shown(self) -> None:
        env = {"AUTHSERVER_MYSQL_PASSWORD": "hunter2", "AUTHSERVER_REDIS_PASSWORD": "hunter2"}
        self.assertNotIn("hunter2", run("authserver", "--help=all", env=env).stdout)

    def test_help_works_whatever_else_is_wrong(self) -> None:
        for program in FLAGS:
            ended = run(program, "--help", env={f"{program}_LISTEN".upper(): "fish"})
            self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_version_works(self) -> None:
        for program in FLAGS:
            ended = run(program, "--version")
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            self.assertRegex(
                ended.stdout,
                rf"\A{program} [0-9]+\.[0-9]+\S* \((commit [0-9a-f]{{12}}(, changed)?; )?"
                r"compiler .*[0-9]; .*-std=c\+\+20.*\)\n\Z",
            )


class PrecedenceTest(SceneTest):
    """The READY line shows which of several addresses has won."""

    def assert_listens_on(
        self, host: str, program: str, *flags: object, env: dict[str, str] | None = None
    ) -> None:
        given = (
            ("--sqlite-path", self.scene.accounts)
            if program == "authserver"
            else ("--root", self.scene.root)
        )
        server = self.scene.start(program, [*given, *flags], env=env)
        self.assertEqual(server.address[0], host)
        self.assertEqual(server.stop(), 0)

    def test_the_command_line_beats_the_environment_which_beats_the_file(self) -> None:
        config = self.scene.folder / "server.conf"
        config.write_text("# where\n\n  listen  =  127.0.0.4:0  \nlog-level=warn\n")
        for program in FLAGS:
            with self.subTest(program):
                environment = {f"{program}_LISTEN".upper(): "127.0.0.3:0"}
                from_file = ("--config", config)
                flag = ("--listen", "127.0.0.2:0")
                self.assert_listens_on("127.0.0.2", program, *flag, *from_file, env=environment)
                self.assert_listens_on("127.0.0.2", program, *from_file, *flag)
                self.assert_listens_on("127.0.0.2", program, *flag, env=environment)
                self.assert_listens_on("127.0.0.3", program, *from_file, env=environment)
                self.assert_listens_on("127.0.0.3", program, env=environment)
                self.assert_listens_on("127.0.0.4", program, *from_file)
                self.assert_listens_on(
                    "127.0.0.4", program, env={f"{program}_CONFIG".upper(): str(config)}
                )

    def test_a_file_may_end_its_lines_with_cr_lf_and_lack_the_last(self) -> None:
        config = self.scene.folder / "server.conf"
        config.write_bytes(b"log-level = warn\r\nlisten = 127.0.0.5:0")
        for program in FLAGS:
            self.assert_listens_on("127.0.0.5", program, "--config", config)

    def test_what_beats_one_flag_leaves_the_others(self) -> None:
        config = self.scene.folder / "server.conf"
        config.write_text("max-connections = 1\nlisten = 127.0.0.1:0\n")
        server = self.scene.start(
            "authserver",
            ["--sqlite-path", self.scene.accounts, "--config", config],
            env={"AUTHSERVER_DRAIN_SECONDS": "1"},
        )
        first = self.scene.client(server)
        self.assertEqual(first.ask("ping"), "OK")
        self.assertEqual(self.scene.client(server).reply(), "busy")
