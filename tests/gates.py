"""What is in which gate: the steps, the gates, and the tests that a gate or a sanitizer leaves out.

`tests/gate NAME` runs one. docs/checks.md says when to take which, and how long they take.
"""

from dataclasses import dataclass
from pathlib import Path

# Rows run side by side, the steps of a row one after the other. The first row runs before them, and
# what is alone behind them. The row of containers has room, so it also has what waits much.
FIRST, TESTS, COMPILER, CONTAINERS, ALONE = "first", "tests", "compiler", "containers", "alone"

GATE = "TURNSTILE_GATE"  # the variable that tells the steps in which gate they are


@dataclass(frozen=True)
class Step:
    name: str
    row: str
    command: str  # a line for bash
    needs: str = ""  # a step of another row that must have ended before


# The build with AddressSanitizer has another compiler than the plain one, so that both compile,
# without a warning, and pass the tests. Without optimisation that is half of the CPU (5.1 s, not
# 10.2, for fileserver/http), and no access is optimised away. g++ 11 is no third one: its
# ThreadSanitizer does not know pthread_cond_clockwait(), and takes each wait for a second lock.
_ADDRESS = "SANITIZE=address CXX=clang++-14 'CXXFLAGS=-O0 -g1'"
_THREAD = "SANITIZE=thread 'CXXFLAGS=-O1 -g1'"
# Without optimisation it takes what a function writes through a pointer for uninitialised.
_OLD_FLAGS = "'CXXFLAGS=-O0 -Wno-maybe-uninitialized'"
_JOBS = "--no-print-directory -j$(nproc)"
_BUILD = f"nice make {_JOBS} test-programs"
# The last release, or what came before some weeks of work.
_RELEASED = (
    "$(git describe --tags --abbrev=0 2>/dev/null || git rev-list --max-count=60 HEAD | tail -n 1)"
)
_CONTAINER = "OBJECTS=$CCACHE_DIR tests/distributions/run"
BARE = "bare"  # what a push runs on a bare Debian 13
_EVENTS = (
    "--model event --no-control slow_clients stop_start fails_closed uploads_survive no_way_out"
)
# Nothing is lost and nobody sees what is not theirs, however busy the machine is. What nobody can
# do to others takes longer to measure, and the tests of each push have its parts without figures.
_NOTHING_LOST = (
    "one_winner no_wrong_answer fails_closed acknowledged_stays uploads_survive hostile_bytes "
    "no_way_out files_change one_tag"
)
_NOBODY_HARMED = (
    "slow_clients over_capacity stop_start keeps_secrets lost_node no_user_enumeration "
    "hashing_no_weapon slow_guessing"
)

# A push looks at the sources that are not as the last full gate has seen them (since.py).
_NEW = "SINCE=$(cat tests/last-full)"

STEPS = (
    Step("quick", FIRST, "make quick"),
    Step("test", FIRST, "make test"),
    Step("setup", FIRST, "scripts/setup all"),
    Step("format", TESTS, "make check-format"),
    Step("shellcheck", TESTS, "make shellcheck"),
    # The linters of Python, in the versions that define the format.
    Step("python", TESTS, "make build/tools/installed && make check-python"),
    Step("test-plain", TESTS, "tests/run-all", "build-plain"),
    Step("test-address", TESTS, "BUILD=build/address tests/run-all", "build-address"),
    Step("test-thread", TESTS, "BUILD=build/thread tests/run-all", "build-thread"),
    Step("build-plain", COMPILER, _BUILD.removeprefix("nice ")),  # most of the tests wait for it
    Step("build-address", COMPILER, f"{_BUILD} {_ADDRESS}"),
    Step("build-thread", COMPILER, f"{_BUILD} {_THREAD}"),
    # Of the paths through a function a push looks at the first ones: two thirds of the CPU.
    Step("tidy", COMPILER, f"nice make tidy TIDY_NODES=4000 {_NEW}"),
    Step("tidy-deep", COMPILER, "nice make tidy"),
    # As `make` does for who edits. The headers of a file's neighbours in its folder are not there.
    Step(
        "each-file",
        COMPILER,
        f"nice make {_JOBS} UNITY= CXX=clang++-14 BUILD=build/each-file CXXFLAGS=-O0 {_NEW} "
        "each-file",
    ),
    Step(
        "g++-11",
        COMPILER,
        f"nice make {_JOBS} UNITY= CXX=g++-11 BUILD=build/g++-11 {_OLD_FLAGS} all",
    ),
    # A seed, so that a failure can be repeated.
    Step("fuzz", COMPILER, "nice make fuzz FUZZ_SECONDS=60 FUZZ_SEED=1"),
    # Where no registry can be reached, the host's owner provides a program that makes base images.
    Step("images", CONTAINERS, "${TURNSTILE_IMAGES:-true}"),
    Step("compose", CONTAINERS, "make compose-test"),
    Step("install", CONTAINERS, "OBJECTS=$CCACHE_DIR tests/install/run"),
    # Debian 12 compiles what the plain build has compiled, with the same compiler, and Debian 13
    # what the installation has.
    Step(
        "debian-12-user",
        CONTAINERS,
        f"TARGETS='demo e2e' {_CONTAINER} debian-12-user",
        "build-plain",
    ),
    Step("debian-13", CONTAINERS, f"FOLDERS='stores course' {GATE}={BARE} {_CONTAINER} debian-13"),
    Step("judges", CONTAINERS, "make judges", "build-plain"),
    Step("torture-short", CONTAINERS, f"make torture SHORT=1 T='{_NOTHING_LOST}'", "build-plain"),
    Step("debian-13-all", CONTAINERS, f"FOLDERS='e2e stores docs course' {_CONTAINER} debian-13"),
    Step("release", CONTAINERS, "OBJECTS=$CCACHE_DIR packaging/release debian12 debian13"),
    # Promises that have figures.
    Step("torture-rest", ALONE, f"make torture SHORT=1 T='{_NOBODY_HARMED}'"),
    Step("torture-events", ALONE, f"make torture SHORT=1 T='{_EVENTS}'"),
    Step("mutants", ALONE, f"make mutants SINCE={_RELEASED} MOST=60"),
)

_PUSH = (
    *("setup", "format", "shellcheck", "python", "test-plain", "test-address", "test-thread"),
    *("judges", "build-plain", "build-address", "build-thread", "tidy", "each-file"),
    *("images", "compose", "install", "debian-13", "torture-short"),
)
_ONLY_FULL = (
    *("tidy-deep", "g++-11", "fuzz", "debian-12-user", "debian-13-all", "release"),
    *("torture-rest", "torture-events", "mutants"),
)
# The full gate does the second of these, which has all of the first, and more.
WIDER = {"tidy": "tidy-deep", "each-file": "g++-11", "debian-13": "debian-13-all"}
GATES: dict[str, tuple[str, ...]] = {
    "quick": ("quick",),
    "test": ("test",),
    "push": _PUSH,
    "full": tuple(name for name in _PUSH + _ONLY_FULL if name not in WIDER),
}


def steps_of(gate: str) -> list[Step]:
    """In the order of STEPS."""
    return [step for step in STEPS if step.name in GATES[gate]]


# The folders of Python tests that run on a build. A sanitizer does not change the scripts, the lab
# and what the model is told. AddressSanitizer sees every store in the unit tests already; only
# ThreadSanitizer, which needs the crowds of the store tests, has them too.
FOLDERS = {
    "": ("e2e", "model", "stores", "scripts", "lab", "torture", "docs", "course"),
    "address": ("e2e",),
    "thread": ("e2e", "stores"),
}
# The unit tests of a build, as a specification of Catch2. What has one thread and computes for long
# has the tag: ThreadSanitizer makes it ten times slower, and has nothing to watch. The full gate
# runs all of them. A hidden test, such as the one that hangs, would be chosen by ~[TAG] alone.
UNIT = {"thread": "~[no-threads]~[.]"}

# What only the full gate runs. Each measures for real or waits for long, and has a shorter one of
# its kind beside it. On a machine that others keep busy most of these of the lab end as skipped.
_FULL_ONLY: tuple[str, ...] = (
    "course/test_gain_for_real",
    "course/test_starter_in_go",
    "lab/test_capacity_for_real",
    "lab/test_failover_for_real",
    "lab/test_knee",
    "lab/test_lost_host_for_real",
    "lab/test_mix_for_real",
    "lab/test_models_for_real",
    "lab/test_ramps_for_real",
    "lab/test_scale_out_for_real",
    "lab/test_tls_for_real",
    "compose/test_lab",
    "compose/test_pages_with_docker",
    "compose/test_swarm_of_three",
    "compose/test_swarm_sentinel",
    "judges/test_slow_attacks",
)
# What is ours, whatever the versions of the database servers are.
_SAME_ANYWHERE = (
    "stores/test_account_changes",
    "stores/test_changes_seen",
    "stores/test_moving_accounts",
    "stores/test_redis_wait",
    "stores/test_same_conversation",
    "stores/test_scarce_memory",
    "stores/test_scarce_memory_of_servers",
    "stores/test_stale_connections",
    "stores/test_store_crash",
    "stores/test_store_crash_of_mysql",
    "stores/test_store_start",
)
# Files that also run with their HTTP over TLS, as FILE@tls. The full gate runs all of them, the
# others the first ones: files with ranges, uploads, and requests that are cut in any way.
_SAMPLE_OVER_TLS = (
    "e2e/test_http_files",
    "e2e/test_http_trickle",
    "e2e/test_http_uploads",
)
OVER_TLS = (
    *_SAMPLE_OVER_TLS,
    "e2e/test_http_folders",
    "e2e/test_http_requests",
    "e2e/test_http_versions",
)
# The workshop itself: `make test` is about the programs.
_WORKSHOP = ("scripts/test_install", "scripts/test_setup")
# Where a sanitizer finds nothing that it does not find elsewhere; the full gate runs them with it.
# Scripts and servers of others, texts for people, limits of memory and of time.
_NOT_OURS = (
    "e2e/test_direct_io",
    "e2e/test_help",
    "e2e/test_limits_page",
    "e2e/test_loadgen_nginx",
    "e2e/test_loadgen_stalls",
    "e2e/test_memory_limit",
    "e2e/test_monitoring",
    "e2e/test_no_look_ups",
    "e2e/test_other_hosts",
    "e2e/test_scaling_cache",
    "e2e/test_scaling_copies",
    "e2e/test_scaling_names",
    "e2e/test_scaling_shared",
    "e2e/test_security_page",
    "e2e/test_show_rights",
    "e2e/test_tls",
    "e2e/test_usage",
    "e2e/test_values_of_flags",
)
# What enters no function that the files which AddressSanitizer keeps do not enter too, as the build
# of the mutations tells (tests/mutants/reached.py), and takes more than two seconds of CPU.
_SAME_FUNCTIONS = (
    "e2e/test_accounts",
    "e2e/test_auth_failed",
    "e2e/test_combinations",
    "e2e/test_dav_full_disk",
    "e2e/test_disk_mode",
    "e2e/test_durability",
    "e2e/test_ended_threads",
    "e2e/test_hash_wait",
    "e2e/test_http_listings",
    "e2e/test_idle",
    "e2e/test_loadgen_accounts",
    "e2e/test_loadgen_channels",
    "e2e/test_loadgen_distribution",
    "e2e/test_loadgen_errors",
    "e2e/test_loadgen_files",
    "e2e/test_loadgen_loops",
    "e2e/test_loadgen_merge",
    "e2e/test_loadgen_mixed",
    "e2e/test_loadgen_ramps",
    "e2e/test_loadgen_transfers",
    "e2e/test_loadgen_user_loops",
    "e2e/test_loadgen_user_series",
    "e2e/test_prefetch_folders",
    "e2e/test_prefetch_follows",
    "e2e/test_prefetch_permissions",
    "e2e/test_prefetch_versions",
    "e2e/test_process_model",
    "e2e/test_rights_dav",
    "e2e/test_telemetry",
    "e2e/test_transfer_log_rotation",
    "e2e/test_trusted_proxy",
)
# Where threads meet: what ThreadSanitizer watches at each push.
_THREADS_MEET = (
    "e2e/test_account_limit",
    "e2e/test_accounts",
    "e2e/test_auth_answers",
    "e2e/test_auth_outage",
    "e2e/test_busy",
    "e2e/test_dav_copies",
    "e2e/test_dav_locked",
    "e2e/test_dav_locks",
    "e2e/test_ended_threads",
    "e2e/test_event_model",
    "e2e/test_hangup",
    "e2e/test_hash_wait",
    "e2e/test_http_digests",
    "e2e/test_http_uploads",
    "e2e/test_http_zip",
    "e2e/test_idle",
    "e2e/test_log_unread",
    "e2e/test_new_accounts",
    "e2e/test_prefetch_follows",
    "e2e/test_prefetch_versions",
    "e2e/test_rights",
    "e2e/test_start",
    "e2e/test_stop",
    "e2e/test_stop_while_prefetching",
    "e2e/test_telemetry_counts",
    "e2e/test_throttle",
    "e2e/test_transfer_log",
    "e2e/test_transfer_log_rotation",
    "e2e/test_under_way",
    "e2e/test_urgent_bytes",
    "e2e/test_loadgen_bursts",
    "e2e/test_loadgen_channels",
    "e2e/test_loadgen_crowd",
    "e2e/test_loadgen_ends",
    "e2e/test_loadgen_loops",
    "e2e/test_loadgen_mixed",
    "e2e/test_loadgen_ramps",
    "e2e/test_loadgen_reconnects",
    "e2e/test_loadgen_telemetry",
    "e2e/test_loadgen_threads",
    "e2e/test_loadgen_user_loops",
    "e2e/test_loadgen_users",
    "stores/test_autocommit",
    "stores/test_cut_answers",
    "stores/test_moving_accounts",
    "stores/test_new_is_not_repeated",
    "stores/test_redis_failover",
    "stores/test_redis_socket",
    "stores/test_redis_wait",
    "stores/test_same_conversation",
    "stores/test_shared_store",
    "stores/test_stale_connections",
    "stores/test_store_health",
    "stores/test_store_outage",
)


def sanitizer_of(build: Path) -> str:
    """Of the programs in this folder; "" for none."""
    return build.name if build.name in FOLDERS else ""


def takes(gate: str, sanitizer: str, name: str) -> bool:
    """Whether a gate runs this file of tests, folder/file; all run where no gate is."""
    if gate in ("", "full"):
        return True
    plain, _, over = name.partition("@")
    if over:
        return plain in _SAMPLE_OVER_TLS and gate != BARE and sanitizer != "thread"
    if name in _FULL_ONLY:
        return False
    if name in {"test": _WORKSHOP, BARE: _SAME_ANYWHERE}.get(gate, ()):
        return False
    if sanitizer == "thread":
        return name in _THREADS_MEET
    return not (sanitizer == "address" and name in _NOT_OURS + _SAME_FUNCTIONS)


def unit_tests_of(gate: str, sanitizer: str) -> str | None:
    """Which unit tests a gate runs; "" for all, None for none."""
    if gate == BARE:
        return None
    return "" if gate == "full" else UNIT.get(sanitizer, "")


def named() -> frozenset[str]:
    """All files of tests that have a rule here."""
    return frozenset(
        OVER_TLS
        + _FULL_ONLY
        + _SAME_ANYWHERE
        + _WORKSHOP
        + _NOT_OURS
        + _SAME_FUNCTIONS
        + _THREADS_MEET
    )
