"""Mutations of the lab."""

from tree import Mutation

_CLOSED_LOOP = "lab/test_closed_loop.ClosedLoopTest."
_CONTROL_GROUP = "lab/test_control_group.FilesTest."
_ENVIRONMENT = "lab/test_environment.EnvironmentTest."
_KNEE = "lab/test_knee_sweep.KneeSweepTest."
_OTHER_VERSIONS = "lab/test_records.OtherVersionsTest."
_PAPERS = "lab/test_papers."
_RECORDS = "lab/test_records.RecordsTest."
_REPORT = "lab/test_report.ReportTest."
_RUN = "lab/test_run.RunTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "more-threads-than-files",
        "lab/plan/plan.py",
        "return found.up_to(files) if files and found.stops else found",
        "return found",
        ("lab/test_sweeps.SweepsTest.test_there_are_no_more_threads_than_files",),
    ),
    Mutation(
        "file-system-of-the-root",
        "lab/observe/host.py",
        '"FSTYPE", "-T", str(there)',
        '"FSTYPE", "-T", "/"',
        ("lab/test_host.FileSystemTest.test_a_file_system_is_told_by_its_name",),
    ),
    Mutation(
        "control-group-beside-the-lab",
        "lab/rig/control_group.py",
        'if controller in controllers.split(",") and inside.is_dir():',
        "if False:",
        (_CONTROL_GROUP + "test_version_1_lies_below_the_group_of_the_lab",),
    ),
    Mutation(
        "control-group-stays-frozen",
        "lab/rig/control_group.py",
        "        group.thaw()\n        _remove(",
        "        _remove(",
        (
            _CONTROL_GROUP
            + "test_version_2_is_frozen_when_the_kernel_says_so_and_thawed_at_the_end",
        ),
    ),
    Mutation(
        "control-group-of-a-living-lab-removed",
        "lab/rig/control_group.py",
        'if Path(f"/proc/{maker}").exists():',
        "if False:",
        (_CONTROL_GROUP + "test_only_the_groups_of_ended_labs_are_removed",),
    ),
    Mutation(
        "analysis-imports-the-report",
        "lab/analysis/findings.py",
        "from . import bursts, gains",
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
        '    "virtual_bytes",\n',
        "",
        (
            "lab/test_window.UsageTest.test_sizes_of_a_process_are_the_largest_and_faults_are_a_rate",
        ),
    ),
    Mutation(
        "report-describes-the-stages-of-today",
        "lab/report/page.py",
        "            environment.stages[name]\n",
        "            catalog.stages()[name]\n",
        (_REPORT + "test_stages_are_described_as_they_were_recorded",),
    ),
    Mutation(
        "papers-value-is-not-on-the-axis",
        "lab/report/charts/dot_plot.py",
        "known = (self.value, self.low, self.high, self.paper)",
        "known = (self.value, self.low, self.high)",
        ("lab/test_charts.DotPlotTest.test_the_papers_value_is_within_the_axis_however_far_it_is",),
    ),
    Mutation(
        "names-of-curves-overlap",
        "lab/report/charts/line_chart.py",
        "_LINE = 11.5",
        "_LINE = 4.0",
        ("lab/test_charts.EveryChartTest.test_no_text_covers_another_one",),
    ),
    Mutation(
        "broken-bar-looks-whole",
        "lab/report/charts/stacked_bars.py",
        "if bar.total * pixels > end - start + 0.5:",
        "if False:",
        (
            "lab/test_charts.StackedBarsTest."
            "test_a_bar_that_is_far_longer_is_broken_off_and_says_its_length",
        ),
    ),
    Mutation(
        "two-meanings-of-a-colour",
        "lab/report/charts/palette.py",
        '"user": ("#6a51a3"',
        '"user": ("#2f6db5"',
        ("lab/test_charts.PaletteTest.test_no_colour_has_two_meanings",),
    ),
    Mutation(
        "alignment-is-decided-by-the-first-cell",
        "lab/report/document.py",
        "for cell in cells if cell)",
        "for cell in cells[:1] if cell)",
        ("lab/test_html.TableTest.test_alignment_is_decided_by_column_and_never_by_cell",),
    ),
    Mutation(
        "decimals-do-not-align",
        "lab/report/html.py",
        "    missing = places - decimals(value)",
        "    missing = 0",
        ("lab/test_html.TableTest.test_the_points_of_a_column_stand_below_each_other",),
    ),
    Mutation(
        "names-on-a-page-clash",
        "lab/report/html.py",
        "        while name in taken:",
        "        while False:",
        ("lab/test_html.PageTest.test_names_are_unique_and_every_link_leads_somewhere",),
    ),
    Mutation(
        "figure-is-drawn-twice",
        "lab/report/page.py",
        "block.shows <= drawn.keys()",
        "False",
        (_REPORT + "test_a_figure_is_not_drawn_twice",),
    ),
    Mutation(
        "failed-clients-of-invalid-points-do-not-count",
        "lab/report/bottleneck_tables.py",
        ", *result.invalid]:",
        "]:",
        ("lab/test_report.BottleneckTablesTest.test_failed_clients_are_counted_by_their_cause",),
    ),
    Mutation(
        "bytes-of-all-servers-are-those-of-one",
        "lab/report/bottleneck_tables.py",
        "used = [run.usage.components.get(name) for name in servers]",
        "used = [run.usage.components.get(servers[0]) for name in servers]",
        ("lab/test_report.BottleneckTablesTest.test_bytes_are_told_for_each_server",),
    ),
    Mutation(
        "percentiles-are-all-the-median",
        "lab/report/bottleneck_tables.py",
        "(run.p50_ms, run.p90_ms, run.p99_ms, run.max_ms)",
        "(run.p50_ms, run.p50_ms, run.p50_ms, run.p50_ms)",
        ("lab/test_report.BottleneckTablesTest.test_response_times_have_their_percentiles",),
    ),
    Mutation(
        "wanted-length-for-the-real-one",
        "lab/report/method.py",
        "lengths = [run.elapsed_s for run in analysis.runs if run.is_valid]",
        "lengths = [mode.seconds for run in analysis.runs if run.is_valid]",
        (_REPORT + "test_the_topology_and_the_real_length_of_the_points_are_said",),
    ),
    Mutation(
        "stage-with-few-rows-takes-a-column",
        "lab/report/sweep_grid.py",
        "if groups and 2 * measured < len(rows):",
        "if False:",
        (
            "lab/test_report.SweepsTest."
            "test_stages_share_panels_by_two_and_one_with_few_rows_joins_the_one_before_it",
        ),
    ),
    Mutation(
        "unreached-maximum-is-not-told",
        "lab/report/finding_views.py",
        '"a maximum was not reached" if judged.is_lower_bound else ""',
        '""',
        ("lab/test_report.FindingsTest.test_the_evidence_says_that_a_maximum_was_not_reached",),
    ),
    Mutation(
        "mixed-verdicts-look-like-the-first",
        "lab/report/finding_views.py",
        "if len(verdicts) == 1 else _MIXED",
        "if verdicts else _MIXED",
        (
            "lab/test_report.FindingsTest.test_rows_with_different_verdicts_have_a_mark_of_their_own",
        ),
    ),
    Mutation(
        "number-of-a-paper-is-no-experiment",
        "lab/plan/catalog.py",
        "{one.name, one.paper} & set(names)",
        "{one.name} & set(names)",
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
        "found = load.failures(result)",
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
)
