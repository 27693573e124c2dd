"""tests/gates.py: nothing that is tested is tested nowhere; and how a gate runs and counts."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS / "torture")]

import gates  # noqa: E402
import since  # noqa: E402
import table  # noqa: E402
from gates import ALONE, COMPILER, Step  # noqa: E402
from gates import TESTS as ROW  # noqa: E402
from runner import steps  # noqa: E402

# Folders of tests that steps of their own run: make judges, make compose-test.
OF_STEPS = {"judges", "compose"}


class GatesTest(unittest.TestCase):
    def test_the_full_gate_has_every_step_and_every_file(self) -> None:
        alone = {"quick", "test"}  # gates of one step, of which the full gate has the parts
        full, narrower = set(gates.GATES["full"]), set(gates.WIDER)
        self.assertEqual({step.name for step in gates.STEPS} - alone - narrower, full)
        self.assertLessEqual(set(gates.GATES["push"]) - narrower, full)
        self.assertLessEqual(set(gates.WIDER.values()), full)
        self.assertEqual(len(gates.STEPS), len({step.name for step in gates.STEPS}))
        for sanitizer in gates.FOLDERS:
            for name in gates.named():
                self.assertTrue(gates.takes("full", sanitizer, name), name)

    def test_every_folder_with_tests_is_in_the_plain_run_or_has_a_step(self) -> None:
        folders = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
        self.assertEqual(folders, set(gates.FOLDERS[""]) | OF_STEPS)

    def test_what_has_a_rule_exists(self) -> None:
        names = {
            f"{path.relative_to(TESTS).parts[0]}/{path.stem}" for path in TESTS.rglob("test_*.py")
        }
        self.assertLessEqual(gates.named(), names)

    def test_the_full_gate_runs_all_unit_tests_and_all_promises(self) -> None:
        for sanitizer in gates.FOLDERS:
            self.assertEqual(gates.unit_tests_of("full", sanitizer), "")
        told = [step.command for step in gates.STEPS if "--model" not in step.command]
        for promise in table.MODULES:
            self.assertEqual(sum(promise in line for line in told), 1, promise)

    def test_each_push_runs_what_make_test_runs(self) -> None:
        for name in gates.named():
            if gates.takes("test", "", name):
                self.assertTrue(gates.takes("push", "", name), name)

    def test_a_step_that_needs_another_has_it_in_each_gate_in_another_row(self) -> None:
        rows = {step.name: step.row for step in gates.STEPS}
        for gate, names in gates.GATES.items():
            for step in gates.steps_of(gate):
                if step.needs:
                    self.assertIn(step.needs, names)
                    self.assertNotEqual(rows[step.needs], step.row)


class SinceTest(unittest.TestCase):
    """What a push looks at again."""

    texts = {
        "lib/base/clock.h": "",
        "lib/base/clock.cpp": '#include "base/clock.h"\n',
        "fileserver/files/parts.h": '#include <map>\n\n#include "base/clock.h"\n',
        "fileserver/files/parts.cpp": '#include "fileserver/files/parts.h"\n',
        "fileserver/http/page.cpp": '#include "page/files.h"\n',
        "bench/peers/one.cpp": '#include "sockets.h"\n',
        "bench/peers/sockets.h": "",
    }

    def reached(self, *changed: str) -> list[str]:
        found = since.reached(list(changed), self.texts)
        return sorted(path for path in found if path.endswith(".cpp"))

    def test_a_header_reaches_all_that_include_it_in_any_way(self) -> None:
        both = ["fileserver/files/parts.cpp", "lib/base/clock.cpp"]
        self.assertEqual(self.reached("lib/base/clock.h"), both)
        self.assertEqual(self.reached("bench/peers/sockets.h"), ["bench/peers/one.cpp"])
        self.assertEqual(self.reached("lib/base/clock.cpp", "README.md"), both[1:])

    def test_what_make_writes_reaches_who_includes_it(self) -> None:
        self.assertEqual(self.reached("fileserver/http/page/drop.js"), ["fileserver/http/page.cpp"])

    def test_all_are_reached_where_nobody_knows(self) -> None:
        self.assertEqual(since.reached(None, self.texts), set(self.texts))
        for commit in ("", "no-commit-of-anybody"):
            self.assertIsNone(since.changed_since(commit))

    def test_a_flag_of_the_compiler_or_a_rule_of_clang_tidy_differs_for_all(self) -> None:
        self.assertTrue(
            since.differs_for_all(["Makefile"], ["-CXXFLAGS ?= -O2", "+CXXFLAGS ?= -O1"])
        )
        self.assertTrue(since.differs_for_all([".clang-tidy"], []))
        self.assertFalse(
            since.differs_for_all(["Makefile"], [" CXXFLAGS ?= -O2", "+help: ## show"])
        )

    def test_each_include_in_the_sources_is_a_file_or_one_that_make_writes(self) -> None:
        texts = since.sources_below(since.ROOT)
        made = since.reached(["sql/sqlite.sql"], texts)
        self.assertIn("authserver/stores/sqlite_store.cpp", made)
        self.assertLess(len(made), 10)


class RunTest(unittest.TestCase):
    def run_steps(self, *chosen: Step) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory(prefix="turnstile-gate-") as folder:
            run = steps.Run(chosen, Path(folder))
            output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
            with contextlib.redirect_stdout(output):
                run.to_the_end()
                run.second_chances()
                status = run.close()
            output.seek(0)
            return status, output.read().splitlines()

    def test_counts_add_up_and_a_step_without_counts_is_one_check(self) -> None:
        status, lines = self.run_steps(
            Step("many", ROW, "echo 3 passed, 0 failed, 2 skipped"),
            Step("one", COMPILER, "true"),
            Step("last", ALONE, "true"),
        )
        self.assertEqual((status, lines[-1]), (0, "5 passed, 0 failed, 2 skipped"))

    def test_a_failure_stops_no_other_step_and_is_shown_once_more_at_the_end(self) -> None:
        status, lines = self.run_steps(
            Step("bad", COMPILER, "echo 'FAILED test_it'; echo why; false"),
            Step("ends", ROW, "echo 2 passed, 0 failed; false", "bad"),
            Step("good", ROW, "true"),
        )
        self.assertEqual((status, lines[-1]), (1, "3 passed, 2 failed, 0 skipped"))
        self.assertEqual(lines[-4:-2], ["bad: FAILED test_it", "bad: why"])

    def test_a_step_waits_for_what_it_needs(self) -> None:
        with tempfile.TemporaryDirectory(prefix="turnstile-gate-") as folder:
            made = f"{folder}/made"
            status, _ = self.run_steps(
                Step("reads", ROW, f"test -e {made}", "makes"),
                Step("makes", COMPILER, f"sleep 0.3; touch {made}"),
            )
        self.assertEqual(status, 0)

    def test_what_is_unsteady_in_a_container_is_named_at_the_end_and_counted(self) -> None:
        words = "for n in 1 2 3 4 5 6; do echo UNSTEADY e2e/test_$n: busy; done"
        status, lines = self.run_steps(Step("inside", ROW, f"{words}; echo 9 passed, 0 failed"))
        self.assertIn("UNSTEADY e2e/test_6: busy", lines[-8:])
        self.assertEqual((status, lines[-1]), (1, "3 passed, 6 failed, 0 skipped"))

    def test_what_passes_at_the_end_is_taken_back_from_its_step(self) -> None:
        late = (
            '{"name": "e2e/test_a.A.test_b", "reason": "busy", "failures": 2, '
            '"command": ["true"], "environment": {}}'
        )
        wrong = late.replace('"true"', '"false"').replace('"failures": 2', '"failures": 1')
        status, lines = self.run_steps(
            Step(
                "tests",
                ROW,
                f"printf '%s\\n' '{late}' '{wrong}' >$TURNSTILE_RUN_AGAIN; "
                "echo 7 passed, 3 failed; false",
            )
        )
        self.assertIn("UNSTEADY e2e/test_a.A.test_b: busy", lines)
        row = r"\| \d{4}-\d\d-\d\d \| `e2e/test_a\.A\.test_b` \| busy \| not known yet \|"
        self.assertRegex("\n".join(lines), row)
        self.assertEqual((status, lines[-1]), (1, "8 passed, 1 failed, 0 skipped"))

    def test_a_step_that_failed_or_did_not_run_has_not_passed(self) -> None:
        with tempfile.TemporaryDirectory(prefix="turnstile-gate-") as folder:
            run = steps.Run([Step("a", ROW, "true"), Step("b", ROW, "false")], Path(folder))
            with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                run.to_the_end()
        self.assertTrue(run.has_passed("a"))
        for names in (("a", "b"), ("a", "c")):
            self.assertFalse(run.has_passed(*names))

    def test_what_a_gate_takes_is_written_into_its_row(self) -> None:
        with tempfile.TemporaryDirectory(prefix="turnstile-gate-") as folder:
            page = Path(folder) / "checks.md"
            page.write_text("| gate |\n| `push` | ? | ? | |\n| `full` | ? | ? | |\n")
            run = steps.Run([], Path(folder))
            run.seconds, run.cpu_s = 90.0, 150.0
            steps.record("push", run, page)
            self.assertEqual(
                page.read_text(), "| gate |\n| `push` | 1.5 | 2.5 |  |\n| `full` | ? | ? | |\n"
            )
