"""Mutations of the lab's machines: limits as data, and what the host felt."""

from tree import Mutation

_GROUP = "lab/test_control_group."
_CHOSEN = "lab/test_machines.ChosenMachineTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "page-cache-of-the-start-is-in-use",
        "lab/rig/control_group.py",
        "(used.memory_bytes or 0) - (used.page_cache_bytes or 0)",
        "(used.memory_bytes or 0)",
        (_GROUP + "FilesTest.test_version_2_gives_the_cache_beside_what_is_in_use",),
    ),
    Mutation(
        "memory-of-the-idle-server-is-part-of-the-cache",
        "lab/rig/control_group.py",
        "most = idle_bytes + self.limits.cache_bytes",
        "most = self.limits.cache_bytes",
        (
            _GROUP + "FilesTest.test_version_2_gives_the_cache_beside_what_is_in_use",
            _GROUP
            + "KernelTest.test_a_ready_program_keeps_its_memory_and_gets_the_cache_beside_it",
        ),
    ),
    Mutation(
        "machine-of-the-command-line-is-ignored",
        "lab/plan/plan.py",
        "    if options.machine:\n",
        "    if False:\n",
        (_CHOSEN + "test_the_chosen_one_is_that_of_every_stage",),
    ),
    Mutation(
        "chosen-memory-keeps-the-cache",
        "lab/plan/plan.py",
        "memory_bytes=memory_bytes, cache_bytes=None)",
        "memory_bytes=memory_bytes)",
        (_CHOSEN + "test_chosen_memory_replaces_that_of_the_machine_and_its_cache",),
    ),
    Mutation(
        "probe-of-memory-gets-no-limit-of-the-cache",
        "lab/observe/machine_probe.py",
        "        group.limit_cache()\n",
        "",
        (
            "lab/test_machine_probe.MachineProbeTest."
            "test_the_disk_s_rate_and_the_page_cache_are_those_of_the_limits",
        ),
    ),
    Mutation(
        "sleeper-outside-of-the-window-counts",
        "lab/observe/sleeper.py",
        " if start_s < wake.time_s <= end_s)",
        ")",
        ("lab/test_sleeper.SleeperTest.test_quantiles_are_of_the_window_only",),
    ),
    Mutation(
        "host-is-shown-at-any-number-of-threads",
        "lab/report/host_views.py",
        " if (run.setting.offered_rps or 0.0, run.threads) == most]",
        "]",
        (
            "lab/test_host_views.HostViewsTest."
            "test_a_cell_is_shown_at_its_most_threads_by_the_medians_of_its_runs",
        ),
    ),
    Mutation(
        "peak-of-a-group-is-a-counter",
        "lab/observe/sampler.py",
        '    "peak_bytes",\n',
        "",
        ("lab/test_window.UsageTest.test_the_peak_of_a_group_is_not_extrapolated",),
    ),
    Mutation(
        "doctor-takes-any-file-max",
        "lab/observe/limits.py",
        "if most >= _FILES_WANTED else",
        "if most >= 0 else",
        (
            "lab/test_limits.FindingsTest."
            "test_the_limit_of_all_programs_together_comes_with_its_fix",
        ),
    ),
    Mutation(
        "page-cache-is-not-limited",
        "lab/procedures/bench.py",
        "                group.limit_cache()\n",
        "                pass\n",
        (
            "lab/test_bench.PartOfTheHostTest."
            "test_the_page_cache_is_limited_when_the_server_is_ready",
        ),
    ),
)
