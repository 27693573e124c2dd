"""Mutations of the lab's bursts."""

from tree import Mutation

_LOAD = "lab/test_burst.BurstTest."
_BURSTS = "lab/test_bursts.BurstsTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "every-transfer-has-its-own-file",
        "lab/workloads/burst.py",
        "        if self.same_file:\n",
        "        if False:\n",
        (_LOAD + "test_one_round_of_files_that_are_the_same_or_differ",),
    ),
    Mutation(
        "transfer-may-be-missing-in-a-burst",
        "lab/workloads/burst.py",
        "if result.requests != self.threads:",
        "if False:",
        (_LOAD + "test_every_transfer_must_have_taken_place_whole",),
    ),
    Mutation(
        "middle-of-an-interval-is-a-verdict",
        "lab/analysis/findings.py",
        "if finding.above < found.low and found.high < finding.below:",
        "if finding.above < found.median < finding.below:",
        (_BURSTS + "test_a_finding_needs_the_whole_interval_on_one_side",),
    ),
    Mutation(
        "discarded-repetitions-count",
        "lab/analysis/bursts.py",
        " and run.repeat > discard",
        "",
        (_BURSTS + "test_the_first_repetitions_may_be_left_out",),
    ),
    Mutation(
        "blocks-are-passes",
        "lab/procedures/fixed_order.py",
        "        if self.is_blocked:\n",
        "        if False:\n",
        (
            "lab/test_user_search.FixedOrderTest.test_in_blocks_all_repetitions_of_a_point_are_in_a_row",
        ),
    ),
)
