"""Mutations of the lab."""

from tree import Mutation

_CELLS = "lab/test_cells.AnalysisTest."
_CLOSED_LOOP = "lab/test_closed_loop.ClosedLoopTest."
_ENVIRONMENT = "lab/test_environment.EnvironmentTest."
_DEMANDS = "lab/test_demands."
_FINDINGS = "lab/test_findings.FindingsTest."
_KNEE = "lab/test_knee_sweep.KneeSweepTest."
_OTHER_VERSIONS = "lab/test_records.OtherVersionsTest."
_PAPERS = "lab/test_papers."
_RECORDS = "lab/test_records.RecordsTest."
_RATIO = "lab/test_intervals.PairedRatioTest."
_REPORT = "lab/test_report.ReportTest."
_RUN = "lab/test_run.RunTest."
_VERDICT = "lab/test_verdict.VerdictTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "analysis-imports-the-report",
        "lab/analysis/findings.py",
        "from . import gains",
        "from ..report import wording as gains",
        ("lab/test_rooms.RoomsTest.test_no_import_goes_backwards",),
    ),
    Mutation(
        "missing-column-is-an-error",
        "lab/results/table.py",
        "(field.default is not MISSING and not row.get(column))",
        "False",
        (_OTHER_VERSIONS + "test_columns_are_read_by_name_and_a_missing_one_was_not_measured",),
    ),
    Mutation(
        "missing-failures-are-no-failures",
        "lab/results/table.py",
        "field.name in without or (",
        'field.name in without or column == "failures" or (',
        (_OTHER_VERSIONS + "test_what_says_that_a_run_is_invalid_may_not_be_missing",),
    ),
    Mutation(
        "older-folder-keeps-its-columns",
        "lab/results/records.py",
        "if tuple(columns) != _COLUMNS:",
        "if False:",
        (_OTHER_VERSIONS + "test_an_older_folder_takes_further_points",),
    ),
    Mutation(
        "newer-folder-is-written",
        "lab/results/records.py",
        "if name not in known]:",
        "if False]:",
        (_OTHER_VERSIONS + "test_a_newer_folder_is_read_but_not_written",),
    ),
    Mutation(
        "second-try-has-the-number-of-the-first",
        "lab/results/records.py",
        "self._trials += 1",
        "self._trials = 1",
        (_RECORDS + "test_the_second_try_of_a_point_keeps_the_evidence_of_the_first",),
    ),
    Mutation(
        "number-of-a-lost-trial-is-used-again",
        "lab/results/records.py",
        " | self._usage.by_trial().keys()",
        "",
        (_RECORDS + "test_the_number_of_a_trial_that_was_never_written_is_not_used_again",),
    ),
    Mutation(
        "older-evidence-is-not-found",
        "lab/results/records.py",
        "in (run.name, run.old_name):",
        "in (run.name,):",
        ("lab/test_records.WideFolderTest.test_its_evidence_is_found_by_its_older_name",),
    ),
    Mutation(
        "what-was-not-recorded-is-an-error",
        "lab/plan/from_json.py",
        "if field.name in value or not _has_default(field)",
        "if True",
        (_ENVIRONMENT + "test_what_an_older_version_did_not_record_is_empty",),
    ),
    Mutation(
        "stages-may-differ-within-a-folder",
        "lab/results/environment.py",
        '"file_counts", "stages")',
        '"file_counts")',
        (_ENVIRONMENT + "test_settings_that_differ_are_named",),
    ),
    Mutation(
        "folder-takes-points-of-other-settings",
        "lab/run.py",
        "elif different := new.other_settings(environment):",
        "elif different := []:",
        (_RUN + "test_a_folder_takes_no_points_of_other_settings",),
    ),
    Mutation(
        "failed-cell-ends-the-run",
        "lab/procedures/campaign.py",
        "                except Failed as error:",
        "                except NotImplementedError as error:",
        (_RUN + "test_a_cell_that_cannot_be_measured_is_a_problem_and_the_others_are_measured",),
    ),
    Mutation(
        "report-describes-the-stages-of-today",
        "lab/report/page.py",
        "        environment.stages[name]\n",
        "        catalog.stages()[name]\n",
        (_REPORT + "test_stages_are_described_as_they_were_recorded",),
    ),
    Mutation(
        "papers-bars-are-cut-off",
        "lab/report/plots.py",
        'axes.set(title=title, yscale="log")',
        'axes.set(title=title, yscale="log", ylim=(0.6 * least, None))',
        ("lab/test_plots.BarsTest.test_no_bar_of_the_paper_is_cut_off",),
    ),
    Mutation(
        "number-of-a-paper-is-no-experiment",
        "lab/plan/catalog.py",
        '{one.name, one.paper, "all"}',
        '{one.name, "all"}',
        (_PAPERS + "PapersTest.test_the_number_of_a_paper_is_all_of_its_experiments",),
    ),
    Mutation(
        "only-one-paper-is-read",
        "lab/plan/papers.py",
        "    for paper in names():",
        "    for paper in names()[:1]:",
        (_PAPERS + "FurtherPaperTest.test_its_experiments_stand_beside_the_others",),
    ),
    Mutation(
        "numbers-of-another-table",
        "lab/plan/papers.py",
        "self.tables.get(table, {})",
        'self.tables.get("table4", {})',
        ("lab/test_catalog.CatalogTest.test_numbers_are_only_compared_inside_their_table",),
    ),
    Mutation(
        "placement-forgets-its-cell",
        "lab/plan/pinning.py",
        "choose(self.pin, self.cores, self._components, cell.fileserver_cores)",
        "choose(self.pin, self.cores)",
        ("lab/test_pinning.PinningTest.test_a_placement_limits_the_fileserver_of_its_cell_only",),
    ),
    Mutation(
        "workload-is-not-checked",
        "lab/procedures/checks.py",
        "found = closed_loop.failures(load, result)",
        "found: list[str] = []",
        ("lab/test_checks.ChecksTest.test_the_workload_and_the_machine_are_both_asked",),
    ),
    Mutation(
        "users-may-be-idle",
        "lab/workloads/closed_loop.py",
        "not _LEAST_OF_N <= share <= _MOST_OF_N",
        "not share <= _MOST_OF_N",
        (_CLOSED_LOOP + "test_littles_law_must_hold",),
    ),
    Mutation(
        "invalid-point-counts-as-a-rise",
        "lab/procedures/knee_sweep.py",
        "run.throughput_rps if run.is_valid else 0.0",
        "run.throughput_rps",
        (_KNEE + "test_an_invalid_point_counts_as_no_throughput",),
    ),
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
        (_FINDINGS + "test_a_maximum_that_was_not_reached_tells_nothing",),
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
        "is_short = len(passes) < _FEWEST_FOR_INTERVAL",
        "return ratio(list(numerator.values()), list(denominator.values()))",
        (_RATIO + "test_a_machine_that_grows_slower_does_not_count",),
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
        (_VERDICT + "test_a_resource_must_lead_in_every_pass",),
    ),
    Mutation(
        "load-generator-is-never-the-limit",
        "lab/analysis/verdict.py",
        "one.owners == (LOAD_GENERATOR,)",
        "not one",
        (_CELLS + "test_full_cores_of_which_the_load_generator_uses_over_half_are_its_limit",),
    ),
    Mutation(
        "less-than-half-of-a-cpu-is-named",
        "lab/analysis/resources.py",
        "_OVER_HALF = 0.5",
        "_OVER_HALF = 0.3",
        (_CELLS + "test_nobody_is_named_for_a_shared_cpu_without_over_half_of_it",),
    ),
    Mutation(
        "over-half-in-one-pass-is-enough",
        "lab/analysis/resources.py",
        "min(first.values()) > _OVER_HALF",
        "max(first.values()) > _OVER_HALF",
        (_CELLS + "test_over_half_in_one_pass_is_not_enough",),
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
        (_CELLS + "test_a_maximum_at_the_last_n_is_not_reached",),
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
)
