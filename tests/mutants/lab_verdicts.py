"""Mutations of what the lab concludes from its points, and of the checks that a point must pass."""

from tree import Mutation

_AGREEMENT = "lab/test_agreement.AgreementTest."
_CELLS = "lab/test_cells.AnalysisTest."
_CHECKS = "lab/test_checks.ChecksTest."
_DEMANDS = "lab/test_demands."
_FINDINGS = "lab/test_findings.FindingsTest."
_PROOF = "lab/test_proof.ProofTest.test_each_case_is_answered_right_and_never_confidently_wrong"
_RATIO = "lab/test_intervals.PairedRatioTest."
_SWEEP = "lab/test_sweep.SweepTest."
_VERDICT = "lab/test_verdict.VerdictTest."
_WINDOW = "lab/test_window.UsageTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "median-within-the-margin-is-likeness",
        "lab/analysis/findings.py",
        "if gain.low >= 1 - _COMPARABLE and gain.high <= 1 + _COMPARABLE:",
        "if 1 - _COMPARABLE <= gain.median <= 1 + _COMPARABLE:",
        (_FINDINGS + "test_likeness_needs_the_whole_interval_within_the_margin",),
    ),
    Mutation(
        "two-runs-show-likeness",
        "lab/analysis/findings.py",
        "    if not gain.is_interval:\n        return CANNOT_TELL\n",
        "",
        (_FINDINGS + "test_without_an_interval_there_is_no_likeness",),
    ),
    Mutation(
        "lower-bound-confirms-a-bottleneck",
        "lab/analysis/findings.py",
        "len(verdicts) == 1 and not result.is_lower_bound",
        "len(verdicts) == 1",
        (_FINDINGS + "test_a_lower_bound_confirms_no_bottleneck",),
    ),
    Mutation(
        "lower-bound-confirms-a-gain",
        "lab/analysis/findings.py",
        "CANNOT_TELL if found.is_lower_bound else rule(found.spread)",
        "rule(found.spread)",
        (_FINDINGS + "test_a_maximum_that_was_not_reached_tells_nothing", _PROOF),
    ),
    Mutation(
        "one-pass-shows-a-gain",
        "lab/analysis/findings.py",
        "gain.count < _FEW",
        "gain.count < 1",
        (_FINDINGS + "test_without_an_interval_a_gain_must_be_large_in_both_passes",),
    ),
    Mutation(
        "largest-server-of-a-shared-cpu-is-named",
        "lab/analysis/findings.py",
        "finding.owner not in (*named.owners, *named.others)",
        "False",
        (
            _FINDINGS
            + "test_a_component_of_a_shared_cpu_is_the_limit_or_none_only_if_that_is_clear",
        ),
    ),
    Mutation(
        "gains-are-judged-at-95-percent",
        "lab/analysis/intervals.py",
        "half = student_t_99(len(passes) - 1)",
        "half = student_t_95(len(passes) - 1)",
        (_FINDINGS + "test_a_gain_that_95_percent_would_confirm_needs_99",),
    ),
    Mutation(
        "passes-of-a-ratio-are-mixed",
        "lab/analysis/intervals.py",
        "is_short = len(passes) < FEWEST_FOR_INTERVAL",
        "return ratio(list(numerator.values()), list(denominator.values()))",
        (_RATIO + "test_a_machine_that_grows_slower_does_not_count", _PROOF),
    ),
    Mutation(
        "luckiest-point-decides-a-gain",
        "lab/analysis/gains.py",
        "point.throughput.median >= sweep.N_STAR_SHARE * result.best.throughput.median",
        "point is result.best",
        ("lab/test_gains.GainsTest.test_the_whole_plateau_decides_and_not_its_luckiest_point",),
    ),
    Mutation(
        "resource-need-not-lead-in-every-pass",
        "lab/analysis/verdict.py",
        "return all(busy >= other",
        "return any(busy >= other",
        (_VERDICT + "test_a_resource_must_lead_in_every_pass", _PROOF),
    ),
    Mutation(
        "load-generator-is-never-the-limit",
        "lab/analysis/verdict.py",
        "one.owners == (LOAD_GENERATOR,)",
        "not one",
        (
            _CELLS + "test_full_cores_of_which_the_load_generator_uses_over_half_are_its_limit",
            _PROOF,
        ),
    ),
    Mutation(
        "less-than-half-of-a-cpu-is-named",
        "lab/analysis/resources.py",
        "_OVER_HALF = 0.5",
        "_OVER_HALF = 0.3",
        (_CELLS + "test_nobody_is_named_for_a_shared_cpu_without_over_half_of_it", _PROOF),
    ),
    Mutation(
        "over-half-in-one-pass-is-enough",
        "lab/analysis/resources.py",
        "min(first.values()) > _OVER_HALF",
        "max(first.values()) > _OVER_HALF",
        (_CELLS + "test_over_half_in_one_pass_is_not_enough",),
    ),
    Mutation(
        "loopback-has-the-rate-of-its-probe",
        "lab/analysis/resources.py",
        "if topology == LOOPBACK and typical > capacity:",
        "if False:",
        (_CELLS + "test_loopback_that_carried_more_than_its_probe_is_no_limit",),
    ),
    Mutation(
        "typical-run-decides",
        "lab/analysis/cells.py",
        "resources.of_runs(at_maximum,",
        "resources.of_runs([at_saturation.typical()],",
        (_CELLS + "test_all_runs_from_n_star_on_decide_not_the_typical_one",),
    ),
    Mutation(
        "n-star-of-medians",
        "lab/analysis/cells.py",
        "sweep.Point(point.threads, point.by_pass[repeat])",
        "sweep.Point(point.threads, point.throughput.median)",
        (
            _CELLS + "test_points_of_a_fast_pass_are_not_compared_with_those_of_slow_ones",
            _CELLS + "test_n_star_is_found_within_each_pass",
        ),
    ),
    Mutation(
        "asymptotes-cross-at-n-star",
        "lab/analysis/cells.py",
        "return self.model.n_star if self.model else None",
        "return self.model.crossing if self.model else None",
        (_CELLS + "test_the_prediction_is_where_the_model_has_95_percent_of_its_asymptote",),
    ),
    Mutation(
        "maximum-at-the-last-n-is-one",
        "lab/analysis/cells.py",
        "(len(points) > 1 and named.label == verdict.NOT_SATURATED)",
        "False",
        (_CELLS + "test_a_maximum_at_the_last_n_is_not_reached", _PROOF),
    ),
    Mutation(
        "demand-is-that-of-one-run",
        "lab/analysis/demands.py",
        "    if slopes:\n",
        "    if False:\n",
        (
            _DEMANDS
            + "UtilisationLawTest.test_the_slope_is_the_demand_and_the_intercept_the_background",
        ),
    ),
    Mutation(
        "demands-of-different-passes-are-compared",
        "lab/analysis/demands.py",
        "if repeat == other and",
        "if",
        (_DEMANDS + "UtilisationLawTest.test_passes_of_different_speed_are_not_compared",),
    ),
    Mutation(
        "core-in-two-sets-counts-twice",
        "lab/analysis/demands.py",
        "left = {name: own - cores for",
        "left = {name: own for",
        (
            _DEMANDS
            + "StationsTest.test_a_smaller_set_that_fills_first_leaves_the_other_cores_to_the_rest",
        ),
    ),
    Mutation(
        "threads-are-not-bounded-by-n",
        "lab/procedures/checks.py",
        "_THREADS_FOR_A_USER * users + _FURTHER_THREADS",
        "1e9",
        (_CHECKS + "test_a_server_has_no_more_threads_than_its_users_need",),
    ),
    Mutation(
        "threads-may-rise",
        "lab/procedures/checks.py",
        "used.threads_rise > users + _CHANCE_RISE",
        "used.threads_rise > 1e9",
        (_CHECKS + "test_a_server_has_no_more_threads_than_its_users_need",),
    ),
    Mutation(
        "strangers-use-a-quarter",
        "lab/observe/usage.py",
        "MOST_FOREIGN = 0.10",
        "MOST_FOREIGN = 0.25",
        (_CHECKS + "test_other_programs_may_use_a_tenth",),
    ),
    Mutation(
        "stolen-time-counts-as-idle",
        "lab/observe/usage.py",
        "self.worked / (1 - self.stolen) if self.stolen < 1 else 1.0",
        "self.worked",
        (_WINDOW + "test_a_core_that_was_busy_whenever_it_was_there_is_full",),
    ),
    Mutation(
        "stolen-time-is-work-of-others",
        "lab/observe/usage.py",
        "worked = sum(core.worked for",
        "worked = sum(core.busy for",
        (_WINDOW + "test_what_was_stolen_is_no_work_of_others",),
    ),
    Mutation(
        "gauges-are-extrapolated",
        "lab/observe/usage.py",
        "if is_gauge(name) else value\n        for name, value in line",
        "if False else value\n        for name, value in line",
        (_WINDOW + "test_a_gauge_is_not_extrapolated",),
    ),
    Mutation(
        "plateau-ends-the-sweep",
        "lab/procedures/sweep.py",
        "if far not in measured:",
        "if False:",
        (_SWEEP + "test_a_rise_behind_a_plateau_is_found",),
    ),
    Mutation(
        "rise-behind-a-plateau-is-ignored",
        "lab/procedures/sweep.py",
        "if not _rises(_best(climbed), measured[far]):",
        "if True:",
        (_SWEEP + "test_a_rise_behind_a_plateau_is_found",),
    ),
    Mutation(
        "lab-is-a-stranger",
        "lab/observe/usage.py",
        "ours += self.lab_cpu_cores or 0.0",
        "ours += 0.0",
        (_WINDOW + "test_the_lab_that_watches_is_no_stranger",),
    ),
    Mutation(
        "connections-are-not-bounded-by-n",
        "lab/procedures/checks.py",
        "_ENDS_FOR_A_USER * load.threads + _FURTHER_ENDS",
        "1e9",
        (_CHECKS + "test_connections_are_bounded_by_the_users",),
    ),
    Mutation(
        "open-ends-are-no-gauge",
        "lab/observe/sampler.py",
        '    "open_ends",\n',
        "",
        (_WINDOW + "test_steady_work_gives_its_own_rates_whatever_the_window",),
    ),
    Mutation(
        "page-cache-is-no-gauge",
        "lab/observe/sampler.py",
        '    "cached_bytes",\n',
        "",
        (_WINDOW + "test_caches_and_load_are_the_largest_and_segments_and_delays_a_rate",),
    ),
    Mutation(
        "one-pass-shows-a-lead",
        "lab/analysis/resources.py",
        "if len({run.repeat for run in runs}) < FEWEST_PASSES:",
        "if False:",
        (_CELLS + "test_with_one_pass_each_run_must_show_the_lead",),
    ),
    Mutation(
        "two-passes-show-a-lead-of-five-points",
        "lab/analysis/verdict.py",
        "_LEAD if count >= FEWEST_PASSES else _LEAD_OF_FEW",
        "_LEAD",
        (_VERDICT + "test_with_fewer_than_three_passes_the_lead_must_be_larger",),
    ),
    Mutation(
        "findings-ignore-the-blocks",
        "lab/analysis/findings.py",
        "found = gains.gain(analysis, *stages, row) if is_own else None",
        "found = gains.between(*(analysis.result(Cell(one, row)) for one in stages))",
        (_FINDINGS + "test_a_gain_side_by_side_is_judged_in_its_blocks",),
    ),
    Mutation(
        "compare-hides-a-flip",
        "lab/report/agreement.py",
        "if findings.CANNOT_TELL not in (first, second):",
        "if (first, second) == (findings.SEEN, findings.NOT_SEEN):",
        (_AGREEMENT + "test_seen_in_one_and_not_seen_in_the_other_is_a_flip",),
    ),
    Mutation(
        "intervals-overlap-from-one-side",
        "lab/report/agreement.py",
        "a.low <= b.high and b.low <= a.high",
        "a.low <= b.high",
        (_AGREEMENT + "test_intervals_of_a_gain_overlap_or_not",),
    ),
)
