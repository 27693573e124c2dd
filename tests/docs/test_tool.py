"""The tool that runs the pages finds what is wrong with them."""

import subprocess
import sys
import unittest

import blocks
import commands
import paste
import shell


def blocks_of(text: str) -> list[blocks.Block]:
    return blocks.of_text(text, "a.md")


class BlocksTest(unittest.TestCase):
    """Which lines are blocks."""

    def test_a_fence_and_an_indented_block_have_their_lines_and_their_place(self):
        found = blocks_of("## Title\n\n    one\n\n    two\n\ntext\n```sh\nthree\n```\n")
        self.assertEqual(
            [(one.line, one.language, one.lines) for one in found],
            [(3, "indented", ("one", "", "two")), (9, "sh", ("three",))],
        )
        self.assertEqual({one.section for one in found}, {"## Title"})

    def test_a_line_of_a_paragraph_or_of_a_list_item_is_no_block(self):
        self.assertEqual(blocks_of("text\n    more\n\n- item\n  more\n\n  more of it\n"), [])

    def test_a_block_in_a_list_is_indented_by_four_columns_more_than_its_item(self):
        (found,) = blocks_of("1. item\n\n       one\n\n2. item\n\n   no block\n")
        self.assertEqual((found.line, found.lines), (3, ("one",)))

    def test_comments_right_above_a_block_belong_to_it(self):
        first, second = blocks_of("<!-- needs: redis -->\n    one\n\ntext\n\n    two\n")
        self.assertEqual((first.notes, second.notes), (("needs: redis",), ()))

    def test_a_fence_that_is_not_closed_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "a.md:1: this fence is not closed"):
            blocks_of("```sh\none\n")


class CommandsTest(unittest.TestCase):
    """What is run of a block, and why not."""

    def commands(self, text: str) -> tuple[commands.Command, ...]:
        (block,) = blocks_of(text)
        return commands.parts_of(block)[0].commands

    def reject(self, text: str, reason: str) -> None:
        (block,) = blocks_of(text)
        with self.assertRaisesRegex(commands.BadBlock, reason):
            commands.parts_of(block)

    def test_a_command_has_all_of_its_lines(self):
        found = self.commands(
            "    a \\\n      b\n    # comment\n    for i in 1; do\n      c\n    done\n"
        )
        self.assertEqual(
            [(one.line, one.text) for one in found],
            [(1, "a \\\n  b"), (4, "for i in 1; do\n  c\ndone")],
        )

    def test_the_form_of_a_command_says_what_it_needs(self):
        (found,) = self.commands("    sudo docker ps    # strace\n")
        self.assertEqual(set(found.needs), {"docker", "root"})
        (found,) = self.commands("    true && \\\n      aria2c localhost\n")
        self.assertEqual(found.needs, ("aria2c",))

    def test_what_stands_beside_docker_needs_docker_too(self):
        found = self.commands("    docker compose up\n    curl localhost\n")
        self.assertEqual([one.needs for one in found], [("docker",), ("docker",)])

    def test_long_commands_and_those_that_change_the_system(self):
        found = self.commands(
            "    make test\n    sudo scripts/lab run table1\n"
            "    scripts/lab list\n    apt install x\n    rm -f /var/lib/a\n"
        )
        self.assertEqual([one.long for one in found], [True, True, False, False, False])
        self.assertEqual({one.not_run for one in found[3:]}, {"changes this system"})

    def test_a_comment_may_only_name_reasons_that_there_are(self):
        self.reject("<!-- not run: I do not like it -->\n    true\n", "no such reason")
        self.reject("<!-- needs: luck -->\n    true\n", "no such reason: needs: luck")

    def test_commands_cannot_hide_in_a_text(self):
        self.reject("```\nbuild/fileserver --root files\n```\n", "looks like a command")

    def test_dots_cannot_be_pasted(self):
        self.reject("    build/authserver --store ... --listen 9001\n", "nobody can paste the dots")

    def test_an_unknown_fence_and_half_a_command_are_errors(self):
        self.reject("```perl\n1\n```\n", "of no known kind")
        self.reject("    echo 'a\n", "bash cannot parse this")

    def test_a_command_that_asks_stands_alone(self):
        self.reject("<!-- types: a -->\n    cat\n    true\n", "taken for the answer")


class RunTest(unittest.TestCase):
    """What is found while a page runs."""

    def run_page(self, text: str) -> paste.Outcome:
        try:
            return paste.run_text(text, "a.md", paste.Form())
        except shell.PortsInUse as error:
            self.skipTest(str(error))

    def test_a_failed_command_is_named_with_its_line_and_its_output(self):
        outcome = self.run_page("    true\n    ls /nowhere\n    true\n")
        self.assertEqual(outcome.run, 2)
        self.assertEqual(len(outcome.failed), 1)
        self.assertRegex(outcome.failed[0], r"^a\.md:2: ls /nowhere\nexit status 2\n.*No such file")

    def test_a_page_that_is_not_there_is_one_line(self):
        command = [sys.executable, str(shell.PROJECT / "tests" / "docs" / "run"), "http"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        said = "run: error: there is no page http; name it by its path, as docs/http.md"
        self.assertEqual(done.stderr.splitlines()[-1], said)

    def test_the_first_command_of_a_pipe_may_not_fail(self):
        self.assertEqual(len(self.run_page("    false | cat\n").failed), 1)

    def test_folder_variables_and_jobs_go_on_in_the_next_block(self):
        outcome = self.run_page(
            "    cd docs && export A=1\n    sleep 60 &\n\ntext\n\n"
            '    test -e protocol.md -a "$A" = 1\n    kill %1; wait\n'
        )
        self.assertEqual((outcome.run, outcome.failed), (4, []))

    def test_a_page_that_does_not_stop_what_it_starts_is_wrong(self):
        (failed,) = self.run_page("    sleep 60 &\n").failed
        self.assertIn("does not stop what it starts", failed)

    def test_the_end_of_the_shell_is_found(self):
        (failed,) = self.run_page("    exit 0\n    true\n").failed
        self.assertIn("the shell has ended", failed)

    def test_a_server_in_the_foreground_is_ended_when_it_is_ready(self):
        outcome = self.run_page("    build/authserver --listen 127.0.0.1:0\n")
        self.assertEqual((outcome.run, outcome.failed), (1, []))

    def test_a_server_in_the_foreground_that_does_not_start_is_found(self):
        (failed,) = self.run_page("    build/fileserver --root nowhere\n").failed
        self.assertIn("it did not become ready", failed)

    def test_nothing_stands_behind_a_server_in_the_foreground(self):
        (failed,) = self.run_page("    build/authserver --listen 127.0.0.1:0\n    true\n").failed
        self.assertIn("the lines behind it wait", failed)

    def test_what_a_page_prints_is_compared_without_its_numbers(self):
        right = "    echo took 3 ms\n\n<!-- output -->\n```\ntook 17 ms\n```\n"
        self.assertEqual(self.run_page(right).failed, [])
        (failed,) = self.run_page(right.replace("took 17", "was 17")).failed
        self.assertIn("not printed:\nwas 17 ms", failed)

    def test_a_dialogue_is_played(self):
        text = (
            "    mkdir files && echo hello > files/hello.txt\n"
            "    build/authserver        # 1: prints READY 127.0.0.1:9001\n"
            "    build/fileserver        # 2: prints READY 127.0.0.1:9000\n"
            "    nc -N 127.0.0.1 9000    # 3: type the lines marked >\n\n"
            "    > new:amy:secret\n    OK\n    > get:amy:secret\n    OK\n"
            "    > hello.txt\n    OK 6\n    hello\n\ntext\n\n"
            "    C: 70 69 6e 67 0a    ping LF\n    S: 4f 4b 0a          OK LF\n"
        )
        self.assertEqual(self.run_page(text).failed, [])
        (failed,) = self.run_page(text.replace("OK 6", "OK 7")).failed
        self.assertIn("the page says:      OK 7\nthe server answers: OK 6", failed)
        (failed,) = self.run_page(text.replace("4f 4b", "4f 4a")).failed
        self.assertIn("the server answers: 4f 4b 0a", failed)
