"""--help in its forms: groups, examples, widths, the man page, and the configuration file."""

import os
import re
import shlex
import signal
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

from flags import FLAGS, LOADGEN, STORES, shown
from needs import missing
from programs import BUILD, run
from scene import SceneTest
from waiting import LONG_S

# Each program with a flag that has no value `last`, so that the program ends with an error that
# names it, after everything in front was accepted.
ENDS = {"authserver": "drain-seconds", "fileserver": "drain-seconds", "loadgen": "timeout"}
ALL_FLAGS = {
    "authserver": (*FLAGS["authserver"], *STORES),
    "fileserver": FLAGS["fileserver"],
    "loadgen": LOADGEN,
}
ABOUT = ("config", "help", "version")
# Where a flag is in the short help: behind two blanks at the beginning of a line.
_SHORT = re.compile(r"^  --([a-z-]+)", re.MULTILINE)
_SETTING = re.compile(r"^# ([a-z-]+) =(?: (.+))?$", re.MULTILINE)


def text_of(program: str, flag: str, columns: int = 120) -> str:
    ended = run(program, flag, env={"COLUMNS": str(columns)})
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    return ended.stdout


def examples_of(program: str) -> list[str]:
    text = text_of(program, "--help").split("Examples:")[1].replace("\\\n", "")
    return re.findall(r"^    (\S.*)$", text, re.MULTILINE)


def pasted(script: str, folder: Path) -> str:
    """What a shell prints that finds the programs, and that has a network with only loopback."""
    shell = "import os, own_network as network; network.enter() or os.execlp('bash', 'bash', '-s')"
    path = f"{BUILD}:{os.environ['PATH']}"
    variables = {"PYTHONPATH": os.path.dirname(__file__), "PATH": path}
    with subprocess.Popen(
        [sys.executable, "-c", shell],
        cwd=folder,
        env=os.environ | variables,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        try:
            output, errors = running.communicate(script, timeout=LONG_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            output, errors = running.communicate()
    assert running.returncode == 0, errors
    return output


class HelpTest(SceneTest):
    def assert_accepted(self, program: str, *arguments: object) -> None:
        ended = run(program, *arguments, f"--{ENDS[program]}=last")
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(f"{ENDS[program]}: ", ended.stderr)

    def test_every_flag_is_in_one_group(self) -> None:
        for program, flags in ALL_FLAGS.items():
            text = text_of(program, "--help=all")
            names = Counter(re.findall(r"^  --([a-z-]+)", text, re.MULTILINE))
            expected = Counter([*(flag.name for flag in flags), *ABOUT])
            self.assertEqual(names, expected, program)
            titles = re.findall(r"^([A-Z].*):$", text, re.MULTILINE)
            self.assertEqual(len(titles), len(set(titles)), titles)
            self.assertNotIn("Flags", titles, "a flag was declared before the first group")

    def test_the_short_help_has_flags_of_the_full_one_and_is_shorter(self) -> None:
        for program in ENDS:
            short, full = text_of(program, "--help"), text_of(program, "--help=all")
            self.assertEqual(text_of(program, "-h"), short)
            names = _SHORT.findall(short)
            self.assertLess(len(names), len(shown(full)))
            self.assertEqual(set(names) - shown(full).keys(), set())
            self.assertIn(f"{program} --help=all", short)
            self.assertLessEqual(len(short.splitlines()), 80)

    def test_no_line_is_wider_than_the_terminal(self) -> None:
        for program in ENDS:
            for flag in ("--help", "--help=all"):
                for columns, widest in ((1, 60), (60, 60), (80, 80), (1000, 120)):
                    lines = text_of(program, flag, columns).splitlines()
                    too_wide = [line for line in lines if len(line) > widest]
                    self.assertEqual(too_wide, [], (program, flag, columns))

    def test_the_examples_are_accepted(self) -> None:
        for program in ENDS:
            text = text_of(program, "--help", 60).replace("\\\n", "")
            commands = re.findall(rf"^    (?:authserver & )?{program} (.*)$", text, re.MULTILINE)
            self.assertEqual(len(commands), 3, text)
            for command in commands:
                with self.subTest(program=program, command=command):
                    self.assert_accepted(program, *shlex.split(command))

    def test_the_examples_of_loadgen_need_nothing_more(self) -> None:
        """They fail only because no server listens."""
        text = text_of("loadgen", "--help", 60).replace("\\\n", "")
        for command in re.findall(r"^    loadgen (.*)$", text, re.MULTILINE):
            with self.subTest(command=command):
                words = [
                    str(self.scene.folder / word) if word.endswith(".json") else word
                    for word in shlex.split(command)
                ]
                ended = run("loadgen", *words, "--server", "127.0.0.1:1", "--seconds", "0.1")
                self.assertEqual(ended.returncode, 1, ended)

    @unittest.skipIf(missing("curl", "unshare"), missing("curl", "unshare"))
    def test_the_first_examples_are_a_share_as_they_stand(self) -> None:
        """In a network of their own, because they name ports."""
        tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            self.skipTest(tried.stderr)
        make_account = examples_of("authserver")[1]
        share = examples_of("fileserver")[0]
        script = f"""
            mkdir docs && echo hello >docs/a.txt
            echo secret | {make_account}
            {share} &
            until curl -sf http://127.0.0.1:8080/-/health >health; do sleep 0.05; done
            curl -sS -u amy:secret http://127.0.0.1:8080/a.txt
            curl -sS -u amy:secret -o failed http://127.0.0.1:8080/b.txt -w '%{{http_code}}\n'
            kill %1 %2; wait
        """
        lines = pasted(script, self.scene.folder).splitlines()
        self.assertEqual(lines[-2:], ["hello", "404"])

    def test_help_is_printed_whatever_else_is_wrong(self) -> None:
        for program in ENDS:
            for arguments in (("--fish", "-h"), ("--help", "x"), ("--listen", "x", "--help")):
                with self.subTest(program=program, arguments=arguments):
                    ended = run(program, *arguments)
                    self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_help_as_a_value_is_no_help(self) -> None:
        ended = run("authserver", "--sqlite-path", "--help", "--drain-seconds=last")
        self.assertEqual(ended.returncode, 2)

    def test_an_unknown_form_of_help_is_wrong_usage(self) -> None:
        for program in ENDS:
            for wrong in ("--help=fish", "--help="):
                ended = run(program, wrong)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""))
                self.assertIn("all|man|config", ended.stderr)

    def test_the_configuration_file_has_every_flag_and_is_accepted(self) -> None:
        config = self.scene.folder / "all.conf"
        for program, flags in ALL_FLAGS.items():
            text = text_of(program, "--help=config")
            settings = dict(_SETTING.findall(text))
            self.assertEqual(sorted(settings), sorted(flag.name for flag in flags))
            positional = ["new"] if program == "loadgen" else []
            in_use = "".join(f"{name} = {value}\n" for name, value in settings.items() if value)
            self.assertGreater(len(in_use.splitlines()), 10)
            for content in (text, in_use):
                config.write_text(content)
                self.assert_accepted(program, *positional, "--config", config)
            for flag in flags:
                value = settings[flag.name]
                if flag.default is not None and value:
                    self.assertEqual(value, flag.default, flag.name)

    def test_the_man_page_has_every_flag(self) -> None:
        for program, flags in ALL_FLAGS.items():
            page = text_of(program, "--help=man")
            for flag in flags:
                tag = f"\\fB--{flag.name}\\fR".replace("-", "\\-")
                self.assertIn(f"\n.TP\n{tag}", page)
                self.assertIn(flag.variable(program), page)

    @unittest.skipIf(missing("groff"), missing("groff"))
    def test_groff_finds_no_mistake_in_the_man_page(self) -> None:
        for program in ALL_FLAGS:
            made = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww"],
                input=text_of(program, "--help=man"),
                capture_output=True,
                text=True,
                check=True,
            )
            self.assertEqual(made.stderr, "")


class MisspeltTest(SceneTest):
    def test_the_answer_to_a_misspelt_or_misplaced_argument(self) -> None:
        for program, typed, meant in (
            ("fileserver", ("--prot", "80"), "there is no flag --prot; did you mean --root?"),
            ("fileserver", ("80", "--rot=x"), "there is no flag --rot; did you mean --root?"),
            ("authserver", ("--log_level", "x"), "did you mean --log-level?"),
            ("loadgen", ("get", "-threads", "1"), "did you mean --threads?"),
            ("authserver", ("--xyzzy",), "there is no flag --xyzzy (see --help)"),
            ("authserver", ("---",), "there is no flag --- (see --help)"),
            ("fileserver", ("files",), 'unexpected argument "files"'),
            ("loadgen", ("get", "put"), 'unexpected argument "put"'),
            ("loadgen", (), "the request is missing: new|get|put"),
            ("fileserver", ("--listen",), "--listen needs a value: HOST:PORT"),
        ):
            with self.subTest(program=program, typed=typed):
                ended = run(program, *typed)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(meant, ended.stderr)

    def test_a_secret_behind_a_misspelt_flag_is_not_shown(self) -> None:
        ended = run("authserver", "--mysql-pasword=hunter2")
        self.assertIn("did you mean --mysql-password?", ended.stderr)
        self.assertNotIn("hunter2", ended.stderr)

    def test_a_name_in_the_file_that_does_not_exist(self) -> None:
        config = self.scene.folder / "server.conf"
        config.write_text("rot = a\n")
        ended = run("fileserver", "--config", config)
        self.assertIn("line 1: there is no flag rot; did you mean root?", ended.stderr)

    def test_a_variable_that_is_no_flag_gets_one_warning(self) -> None:
        env = {"AUTHSERVER_LISTEM": "Xyzzy", "AUTHSERVER_CPUS": "1", "AUTHSERVER_PLUGH": "2"}
        env |= {"AUTHSERVER_DRAIN_SECONDS": "1", "AUTHSERVER_CONFIG": "", "FILESERVER_ROTT": "3"}
        server = self.scene.start(
            "authserver",
            ["--sqlite-path", self.scene.accounts, "--listen", "127.0.0.1:0"],
            env=env,
        )
        self.assertEqual(server.stop(), 0)
        lines = [line for line in server.log().splitlines() if "is no flag" in line]
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("warning AUTHSERVER_LISTEM is no flag of authserver", server.log())
        self.assertIn("; did you mean AUTHSERVER_LISTEN?", server.log())
        self.assertIn("warning AUTHSERVER_PLUGH is no flag of authserver\n", server.log())
        self.assertNotIn("Xyzzy", server.log())

    def test_wrong_usage_is_the_only_line_whatever_the_variables(self) -> None:
        ended = run("fileserver", "--fish", env={"FILESERVER_ROTT": "a"})
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
