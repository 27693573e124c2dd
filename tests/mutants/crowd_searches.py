"""Mutations of the lab's crowds: the workload, the search, the findings."""

from tree import Mutation

_SEARCH = "lab/test_user_search.UserSearchTest."
_LOAD = "lab/test_crowd.CrowdTest."
_FINDINGS = "lab/test_crowds.FindingsTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "most-users-are-not-confirmed",
        "lab/procedures/user_search.py",
        "return agreeing >= self.trial.confirmations",
        "return agreeing >= 1",
        (_SEARCH + "test_the_limit_is_found_within_five_percent_and_confirmed",),
    ),
    Mutation(
        "one-lucky-trial-holds",
        "lab/procedures/user_search.py",
        "if fails is None or run.threads < fails",
        "if True",
        (_SEARCH + "test_a_number_that_holds_once_and_not_again_does_not_hold",),
    ),
    Mutation(
        "hopeless-search-goes-on",
        "lab/procedures/user_search.py",
        "spoiled.count(users) > self.trial.confirmations",
        "spoiled.count(users) > 1000",
        (_SEARCH + "test_trials_that_stay_invalid_end_the_search_without_an_answer",),
    ),
    Mutation(
        "saturated-generator-blames-the-server",
        "lab/workloads/crowd.py",
        'if result.is_bottleneck and users["held"] < self.threads:',
        "if False:",
        (_LOAD + "test_a_generator_at_its_limit_says_nothing_about_users_that_drop_out",),
    ),
    Mutation(
        "crowd-that-holds-is-spoiled",
        "lab/procedures/checks.py",
        " and load.can_be_spoiled(result)",
        "",
        (_LOAD + "test_other_programs_spoil_a_crowd_only_when_users_dropped_out",),
    ),
    Mutation(
        "brackets-that-overlap-are-a-verdict",
        "lab/analysis/findings.py",
        "more.answer.holds >= fewer.answer.fails",
        "more.answer.holds >= fewer.answer.holds",
        (_FINDINGS + "test_more_users_are_seen_only_where_the_two_searches_leave_a_gap",),
    ),
    Mutation(
        "one-trial-says-which-engine-is-cheaper",
        "lab/analysis/findings.py",
        "min(len(a.runs), len(b.runs)) < _FEW",
        "min(len(a.runs), len(b.runs)) < 1",
        (_FINDINGS + "test_less_cpu_needs_every_trial_on_one_side_and_more_than_one",),
    ),
    Mutation(
        "crowd-is-a-closed-loop",
        "lab/analysis/cells.py",
        "if not run.pair and run.cell.workload == CLOSED_LOOP",
        "if not run.pair",
        ("lab/test_crowds.CrowdsTest.test_a_crowd_is_in_no_table_of_closed_loops",),
    ),
)
