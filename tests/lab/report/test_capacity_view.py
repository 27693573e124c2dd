"""What the report says about capacity: foretold by runs with fewer clients, then tried."""

import math
import unittest
from dataclasses import replace
from typing import Any

import examples
import made_up_ramps
from made_up_ramps import MIB, MadeUp

from lab.kinds.ramp import Ramp
from lab.plan import catalog, plan
from lab.report import page
from lab.results.environment import Environment

OPTIONS = examples.options("003-capacity")
ENVIRONMENT: Environment = replace(
    examples.ENVIRONMENT, options=OPTIONS, mode=catalog.modes()["003", "quick"], file_counts={}
)
STAGE = "sink-limited"
LIMIT = 56 * MIB  # with 10 MiB of idle servers, 600 clients
EACH = 46 * MIB / 600


def ramp(row: str) -> Ramp:
    found = plan.ramp_of(row, OPTIONS)
    assert found
    return found


def tried(**changes: Any) -> dict[str, Any]:
    """The kernel ended the server, unless the changes say otherwise."""
    used_bytes = changes.pop("used", 0.99) * LIMIT
    used = replace(examples.usage(), figures={"group_used_bytes": used_bytes})
    usual = {"uploads_borne": 590.0, "first_failed_s": 7.0, "memory_limit_bytes": float(LIMIT)}
    return {"errors": "fileserver ended", "usage": used, **usual, **changes}


def summary(
    test: unittest.TestCase,
    *rows: str,
    killed_s: float = 7.1,
    ended: tuple[str, ...] = (),
    **changes: Any,
) -> str:
    """changes are those of the trial, and of the rows that ended although fewer clients came."""
    folder = examples.results(test, environment=ENVIRONMENT)
    for row in rows:
        made = MadeUp(ramp=ramp(row), memory_of_each=EACH, killed_s=killed_s)
        of_trial = tried(**changes) if made.ramp.until_it_ends or row in ended else {}
        run = made_up_ramps.run(made.ramp, STAGE, **of_trial)
        folder.add(run, {"command": "loadgen", **made.evidence()})
    page.write(folder)
    return (folder.path / "summary.md").read_text(encoding="utf-8")


ALL = ("capacity-third", "capacity-two-thirds", "capacity-tried")
FORETOLD = r"(59\d|60\d)"  # 600
INTERVAL = rf"{FORETOLD} \([\d,]+ to [\d,]+\)"


class CapacityTest(unittest.TestCase):
    def test_what_was_foretold_and_tried_is_said_in_a_sentence(self) -> None:
        self.assertRegex(
            summary(self, *ALL),
            r"sink-limited: 56 MiB of memory bear 590 uploads under way; at the end, the kernel "
            rf"ended the server\. Foretold from 200 clients: {INTERVAL}; from 400 clients: "
            rf"{INTERVAL}\.",
        )

    def test_a_table_has_the_error_of_each(self) -> None:
        text = summary(self, *ALL)
        self.assertRegex(
            text,
            rf"\| sink-limited \| 56 MiB \| 200 \| {INTERVAL} \| [+-]\d% \| 590 \| the kernel "
            r"ended the server \|\n",
        )
        self.assertRegex(text, rf"\|  \|  \| 400 \| {INTERVAL} \| [+-]\d% \|  \|  \|\n")
        self.assertIn("3,700 to 3,800 such clients", text)

    def test_the_title_counts_the_papers_findings(self) -> None:
        text = summary(self, *ALL)
        self.assertRegex(text, "^# Of 1 finding of the paper, 1 is seen here, 0 not\n")

    def test_a_trial_is_no_line_of_the_ramps(self) -> None:
        text = summary(self, *ALL)
        self.assertIn("| sink-limited | capacity-third |", text)
        self.assertNotIn("| sink-limited | capacity-tried |", text)
        self.assertNotIn("900 clients on 50 hosts brought", text)

    def test_the_finding_is_judged(self) -> None:
        text = "Of our server: what memory bears is foretold from a third of the clients"
        self.assertRegex(summary(self, *ALL), rf"{text}.*seen here")
        self.assertRegex(summary(self, *ALL, uploads_borne=300.0), rf"{text}.*not seen here")

    def test_a_limit_that_was_not_reached_is_told_as_such(self) -> None:
        spared: dict[str, Any] = {"killed_s": math.inf, "errors": "", "first_failed_s": None}
        text = summary(self, *ALL, used=0.5, **spared)
        self.assertIn(
            "bear more than 590 uploads under way; at the end, the limit was not reached", text
        )
        self.assertRegex(text, rf"\| 200 \| {INTERVAL} \|  \| more than 590 \|")

    def test_a_step_that_memory_did_not_bear_is_a_trial_too(self) -> None:
        text = summary(self, *ALL, ended=ALL[1:2], uploads_borne=390.0)
        self.assertRegex(
            text,
            r"sink-limited, capacity-two-thirds: 56 MiB of memory bear 390 uploads under way; at "
            rf"the end, the kernel ended the server\. Foretold from 200 clients: {INTERVAL}\.",
        )
        self.assertRegex(text, rf"\| sink-limited, capacity-two-thirds \| .* \| 200 \| {INTERVAL}")
        self.assertNotIn("from 400 clients", text)
        self.assertNotIn("| sink-limited | capacity-two-thirds |", text)

    def test_where_each_step_ended_nothing_is_foretold(self) -> None:
        text = summary(self, *ALL, ended=ALL, uploads_borne=190.0)
        self.assertIn("bear 190 uploads under way; at the end, the kernel ended the server.", text)
        self.assertNotIn("Foretold", text)

    def test_without_a_trial_or_runs_with_fewer_clients_there_is_none(self) -> None:
        for rows in (ALL[:2], ALL[2:]):
            self.assertNotIn("Foretold", summary(self, *rows))
        self.assertNotIn("Foretold", summary(self, *ALL, failures="a tester began 99 ms late"))
