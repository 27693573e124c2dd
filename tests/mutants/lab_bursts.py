"""Mutations of the lab's bursts."""

from tree import Mutation

_LOAD = "lab/test_burst.BurstTest."
_BURSTS = "lab/test_bursts.BurstsTest."
_FRESH = "lab/test_fresh_files.FreshFilesTest."
_TRANSFERS = "lab/test_transfers.TransfersTest."

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
        "failed-transfer-counts-in-the-rate",
        "lab/workloads/transfers.py",
        "if one.last_byte_s and not one.failure]",
        "if one.last_byte_s]",
        (_TRANSFERS + "test_the_rate_is_all_bytes_from_the_first_asking_to_the_last_end",),
    ),
    Mutation(
        "lines-of-earlier-trials-count",
        "lab/procedures/server_log.py",
        "file.seek(self._begin)",
        "file.seek(0)",
        ("lab/test_server_log.ServerLogTest.test_lines_of_earlier_trials_are_not_of_this_one",),
    ),
    Mutation(
        "drift-within-repetitions-is-not-seen",
        "lab/analysis/bursts.py",
        "return early.low <= late.high and late.low <= early.high",
        "return early.low <= late.high",
        (_BURSTS + "test_a_drift_within_the_repetitions_is_seen_where_there_are_enough",),
    ),
    Mutation(
        "dropped-files-may-be-in-memory",
        "lab/procedures/checks.py",
        "if fresh != DROPPED or",
        "if True or",
        (_FRESH + "test_a_burst_of_dropped_files_that_are_in_memory_is_invalid",),
    ),
    Mutation(
        "fresh-files-are-left",
        "lab/systems/fresh_files.py",
        "        yield made\n    finally:\n        shutil.rmtree(made, ignore_errors=True)",
        "        yield made\n    finally:\n        pass",
        (_FRESH + "test_each_is_another_file_of_the_size_and_nothing_is_left",),
    ),
    Mutation(
        "pages-are-counted-whether-in-memory-or-not",
        "lab/observe/residency.py",
        "page & 1 for",
        "1 for",
        (
            "lab/test_residency.ResidencyTest."
            "test_what_was_just_written_is_in_memory_and_what_was_thrown_out_is_not",
        ),
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
    Mutation(
        "held-server-is-not-let-go",
        "lab/procedures/measure.py",
        "                conditions.group.thaw()  # should",
        "                pass  # should",
        ("lab/test_bursts_for_real.BurstsTest.test_the_server_may_be_held_while_all_ask",),
        may_hang=True,
    ),
    Mutation(
        "order-of-a-stage-is-ignored",
        "lab/procedures/campaign.py",
        "order = self._plan.stages[cell.stage].order or self._plan.options.order",
        "order = self._plan.options.order",
        ("lab/test_campaign.CampaignTest.test_a_stage_may_say_in_which_order_its_repetitions_are",),
    ),
)
