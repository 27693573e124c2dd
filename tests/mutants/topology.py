"""Mutations of where the lab's load generator runs, and of how the disk is measured."""

from tree import Mutation

_DISK = "lab/test_disk_probe.ShareTest."
_TOPOLOGY = "lab/test_topology.TopologyTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "disk-is-full-when-it-has-a-request",
        "lab/observe/disk_probe.py",
        "replace(disk, busy=probe.share(disk))",
        "disk",
        (_DISK + "test_a_disk_that_always_has_a_request_is_not_full",),
    ),
    Mutation(
        "requests-of-the-disk-do-not-count",
        "lab/observe/disk_probe.py",
        "max(read + written, requests)",
        "read + written",
        (_DISK + "test_the_scarcer_of_bytes_and_requests_counts",),
    ),
    Mutation(
        "verdicts-know-no-probe",
        "lab/analysis/cells.py",
        "runs = _calibrated(runs, environment.disk_probe)",
        "runs = _calibrated(runs, None)",
        (_DISK + "test_verdicts_use_what_the_disk_can_do",),
    ),
    Mutation(
        "probe-is-more-than-any-run",
        "lab/analysis/cells.py",
        "most = probe.or_more(run.usage for run in runs)",
        "most = probe.or_more(())",
        (_DISK + "test_a_run_that_did_more_than_the_probe_raises_the_mark",),
    ),
    Mutation(
        "link-without-its-rate",
        "lab/rig/wire.py",
        "    if not link:\n        return\n",
        "    if link:\n        return\n",
        (_TOPOLOGY + "test_a_link_carries_no_more_than_its_rate_and_is_recorded",),
    ),
    Mutation(
        "generator-stays-on-loopback",
        "lab/systems/places.py",
        "elif options.client or link:",
        "elif False:",
        (_TOPOLOGY + "test_a_link_carries_no_more_than_its_rate_and_is_recorded",),
    ),
    Mutation(
        "bytes-of-the-link-are-not-sampled",
        "lab/procedures/measure.py",
        'link = place.interface if place.name != LOOPBACK else ""',
        'link = ""',
        (_TOPOLOGY + "test_a_link_carries_no_more_than_its_rate_and_is_recorded",),
    ),
    Mutation(
        "copies-stay-on-the-other-host",
        "lab/rig/remote.py",
        'f"rm -rf {shlex.quote(folder)}"',
        '"true"',
        (_TOPOLOGY + "test_the_load_generator_runs_on_a_host_that_ssh_reaches",),
    ),
    Mutation(
        "any-word-is-a-host",
        "lab/plan/options.py",
        "if client is not None and not re",
        "if client is None and not re",
        (_TOPOLOGY + "test_flags_that_do_not_fit_are_wrong_usage",),
    ),
    Mutation(
        "full-link-is-not-named",
        "lab/analysis/verdict.py",
        'if resource.kind != "loopback"]',
        'if resource.kind not in ("loopback", "network")]',
        ("lab/test_verdict.VerdictTest.test_a_full_link_is_named_even_if_the_cpu_is_not_idle",),
    ),
    Mutation(
        "generator-elsewhere-takes-a-core",
        "lab/plan/pinning.py",
        "return COMPONENTS if self.is_generator_here else SERVERS",
        "return COMPONENTS",
        ("lab/test_pinning.PinningTest.test_a_generator_on_another_host_takes_no_core",),
    ),
)
