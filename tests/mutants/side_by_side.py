"""Mutations of gains that are measured side by side."""

from tree import Mutation

_BLOCKS = "lab/test_side_by_side.BlocksTest."
_GAIN = "lab/test_side_by_side.GainTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "every-block-begins-with-the-same-side",
        "lab/procedures/side_by_side.py",
        "(1, 0, 0, 1))",
        "(0, 1, 1, 0))",
        (_BLOCKS + "test_the_sides_of_a_block_alternate_and_the_next_block_begins_with_the_other",),
    ),
    Mutation(
        "part-of-a-block-counts",
        "lab/procedures/side_by_side.py",
        "if len(trials) == len(_ORDERS[0])",
        "if trials",
        (_BLOCKS + "test_a_block_with_a_bad_trial_or_without_all_four_does_not_count",),
    ),
    Mutation(
        "blocks-at-the-smaller-n-star",
        "lab/procedures/side_by_side.py",
        "return max(stars)",
        "return min(stars)",
        (_BLOCKS + "test_both_are_measured_at_the_larger_of_their_n_stars",),
    ),
    Mutation(
        "blocks-are-points-of-the-sweep",
        "lab/analysis/cells.py",
        "if not run.pair and run.cell.workload == CLOSED_LOOP]",
        "if run.cell.workload == CLOSED_LOOP]",
        (_GAIN + "test_trials_of_blocks_are_in_no_sweep",),
    ),
    Mutation(
        "gain-leaves-the-blocks-out",
        "lab/analysis/gains.py",
        "if len(blocks) >= intervals.FEWEST_FOR_INTERVAL:",
        "if len(blocks) > 99:",
        (_GAIN + "test_a_drift_within_blocks_and_between_them_cancels_out",),
    ),
)
