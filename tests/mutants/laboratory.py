"""Mutations of the lab."""

from tree import Mutation

_CLOSED_LOOP = "lab/test_closed_loop.ClosedLoopTest."
_ENVIRONMENT = "lab/test_environment.EnvironmentTest."
_KNEE = "lab/test_knee_sweep.KneeSweepTest."
_OTHER_VERSIONS = "lab/test_records.OtherVersionsTest."
_PAPERS = "lab/test_papers."
_RECORDS = "lab/test_records.RecordsTest."
_REPORT = "lab/test_report.ReportTest."
_RUN = "lab/test_run.RunTest."

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
        "size-of-a-process-is-a-rate",
        "lab/observe/sampler.py",
        '"resident_bytes", "virtual_bytes", ',
        '"resident_bytes", ',
        (
            "lab/test_window.UsageTest.test_sizes_of_a_process_are_the_largest_and_faults_are_a_rate",
        ),
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
        "else closed_loop.failures(load, result)",
        "else []",
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
)
