"""Mutations of the lab's open loop: its checks, the search, and what the report says of it."""

from tree import Mutation

_WORKLOAD = "lab/test_open_loop.OpenLoopTest."
_SEARCH = "lab/test_offered_load.OfferedLoadTest."
_ANSWER = "lab/test_offered_load_views.AnswerTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "requests-may-be-lost",
        "lab/workloads/open_loop.py",
        "if result.requests + result.errors_total != due:",
        "if False:",
        (_WORKLOAD + "test_every_request_that_was_due_must_have_ended",),
    ),
    Mutation(
        "any-rate-will-do",
        "lab/workloads/open_loop.py",
        "if abs(due - wanted) > _SIGMAS * math.sqrt(wanted):",
        "if False:",
        (_WORKLOAD + "test_the_rate_must_be_that_which_was_asked_for",),
    ),
    Mutation(
        "slow-server-is-no-result",
        "lab/workloads/open_loop.py",
        "if cause not in _SLOW)",
        "if cause)",
        (_WORKLOAD + "test_a_server_that_is_too_slow_is_a_result",),
    ),
    Mutation(
        "unsent-requests-are-missed-by-the-servers",
        "lab/workloads/closed_loop.py",
        ' - errors.get("unfinished", 0)',
        "",
        (_WORKLOAD + "test_requests_that_were_never_sent_are_none_that_the_servers_could_count",),
    ),
    Mutation(
        "open-loop-is-judged-by-n",
        "lab/workloads/open_loop.py",
        "return failures(self, result)",
        "return super().failures(result)",
        (_WORKLOAD + "test_a_point_is_judged_by_its_own_workload",),
    ),
    Mutation(
        "one-run-decides",
        "lab/procedures/offered_load.py",
        "return min(_MOST_CONFIRMATIONS, self.sweep.passes)",
        "return 1",
        (_SEARCH + "test_a_lucky_or_unlucky_run_decides_nothing",),
    ),
    Mutation(
        "search-ends-at-the-grid",
        "lab/procedures/offered_load.py",
        "_CLOSE_ENOUGH = 1.05",
        "_CLOSE_ENOUGH = 1.5",
        (_SEARCH + "test_the_search_finds_the_most_that_keeps_the_limit",),
    ),
    Mutation(
        "invalid-runs-show-that-a-rate-fails",
        "lab/procedures/offered_load.py",
        "self._in_time(runs, fails_rps).count(False) >= self.confirmations",
        "True",
        (_SEARCH + "test_a_rate_whose_runs_stay_invalid_is_not_said_to_be_kept",),
    ),
    Mutation(
        "interrupted-pass-is-an-answer",
        "lab/procedures/offered_load.py",
        "if not rates or not offered.issuperset(rates) or",
        "if not rates or",
        (_SEARCH + "test_rates_that_were_not_offered_yet_keep_nothing",),
    ),
    Mutation(
        "invalid-runs-keep-the-limit",
        "lab/procedures/offered_load.py",
        "if run.offered_rps == rate and run.is_valid",
        "if run.offered_rps == rate",
        (_SEARCH + "test_a_rate_whose_runs_stay_invalid_is_not_said_to_be_kept",),
    ),
    Mutation(
        "limit-that-was-not-reached-is-an-answer",
        "lab/report/offered_load_views.py",
        "if known.fails_rps is None:",
        "if False:",
        (_ANSWER + "test_a_limit_that_every_rate_keeps_is_not_said_to_be_found",),
    ),
    Mutation(
        "overview-forgets-the-open-loop",
        "lab/report/overview.py",
        "found = [*waiting, ",
        "found = [",
        ("lab/test_offered_load_views.ViewTest.test_the_overview_of_an_open_loop_is_its_answer",),
    ),
    Mutation(
        "open-loop-is-in-closed-tables",
        "lab/analysis/cells.py",
        "if not run.pair and run.cell.workload == CLOSED_LOOP]",
        'if not run.pair and run.cell.workload != "crowd"]',
        ("lab/test_offered_load_views.ViewTest.test_an_open_loop_is_in_no_table_of_closed_ones",),
    ),
)
