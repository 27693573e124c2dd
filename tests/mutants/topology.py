"""Mutations of where the lab's load generator runs."""

from tree import Mutation

_TOPOLOGY = "lab/test_topology.TopologyTest."

MUTATIONS: tuple[Mutation, ...] = (
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
