"""The checks that a point must pass before it may enter a table."""

from rig.place import Told

from ..observe import usage as observed
from ..observe.moment import Sample
from ..observe.usage import MOST_FOREIGN, ComponentUsage, Usage
from ..plan.catalog import Cell
from ..systems.fresh_files import DROPPED
from ..workloads.load import Load
from ..workloads.outcome import Result

_MOST_STOLEN = 0.10  # of the window, by the hypervisor
_MOST_TRACKED = 200_000  # of the usual 262,144 entries; then packets are dropped
_OTHERS = "other programs"
DISTURBED = "disturbed"  # of a point of a shared machine, in its notes
_OF_A_BUSY_MACHINE = (_OTHERS, "load generator", "X·R is", "use fewer")
# In a closed loop N connections are open at a time. So a server that finishes its work needs no
# more threads than this: for each user one that serves, one that ends after its last reply and one
# that has just been started; 32 spare ones; the main, accepting and prefetching threads.
_THREADS_FOR_A_USER = 3
_FURTHER_THREADS = 64
# A request has three hops (client, fileserver, authserver, store) with two ends each. As many again
# may be closing. The rest is for pools and, without a network namespace of ours, other programs.
_ENDS_FOR_A_USER = 12
_FURTHER_ENDS = 1000
_CHANCE_RISE = 8  # beside one thread for each user
_STILL_COLD = 0.01  # the part of the files that may still be in memory
_MOST_LINK_LATE_MS = 5.0
_COLD_SHARE = 0.5  # the part of the bytes of a cold point that must come from the disk


def failures(load: Load, result: Result, usage: Usage, *, has_ended: bool = False) -> list[str]:
    """Why the point is invalid, by its workload or by the machine; [] for a good one.

    has_ended: a server did not survive it. That is no fault of other programs, which only take
    time; the kernel itself is busy then.
    """
    found = load.failures(result)
    most_foreign = MOST_FOREIGN + load.kernels_share
    if not has_ended and load.can_be_spoiled(result):
        found += busy_cores(usage.foreign_share, most_foreign)
    for server in ("fileserver", "authserver"):
        if used := usage.components.get(server):
            found += _unfinished_work(server, used, load.threads)
    ends = usage.open_ends or 0
    if ends > _ENDS_FOR_A_USER * load.threads + _FURTHER_ENDS:
        found.append(f"{ends:.0f} ends of connections were open for {load.threads} users")
    return found


def busy_cores(foreign_share: float, most: float = MOST_FOREIGN) -> list[str]:
    """Why a machine was no place to measure on: programs that are not under test used its cores."""
    return [f"{_OTHERS} used {foreign_share:.0%} of the cores"] if foreign_share > most else []


def files_in_memory(fresh: str, resident: float | None) -> list[str]:
    """Why files that were thrown out of the cache were not."""
    if fresh != DROPPED or resident is None or resident <= _STILL_COLD:
        return []
    return [f"{resident:.0%} of the files were still in memory"]


def of_link(load: Load, result: Result, told: Told | None) -> list[str]:
    """Why a link was another one than it should be. A client that failed may have ended before a
    connection was to be stuck.
    """
    found = late_link(told)
    if load.needs_stall and not result.errors and not (told and told.stuck):
        found.append("no connection was stuck: the link lost no packet of one")
    return found


def late_link(told: Told | None) -> list[str]:
    """Why a link with a delay was later than it should be: it had no core when it was due."""
    if told is None or told.late_p99_ms <= _MOST_LINK_LATE_MS:
        return []
    return [f"{_OTHERS}: the link with a delay was {told.late_p99_ms:.1f} ms late itself (p99)"]


def _unfinished_work(server: str, used: ComponentUsage, users: int) -> list[str]:
    """Threads beyond the requests under way do work that the client already counts as done."""
    if used.threads and used.threads > _THREADS_FOR_A_USER * users + _FURTHER_THREADS:
        return [f"the {server} had {used.threads:.0f} threads for {users} users"]
    if used.threads_rise and used.threads_rise > users + _CHANCE_RISE:
        return [f"the {server}'s threads rose by {used.threads_rise:.0f} within the window"]
    return []


def may_pass_again(failures_text: str) -> bool:
    """Whether other programs disturbed the point. Its other failures may be a consequence."""
    return _OTHERS in failures_text


def on_a_shared_machine(failures_text: str) -> tuple[str, str]:
    """What is left of the failures where the CPU time of a request alone is judged, and remarks on
    what was disturbed.
    """
    if not counts_cpu(failures_text):
        return failures_text, ""
    return "", "; ".join(f"{DISTURBED}: {one}" for one in filter(None, failures_text.split("; ")))


def counts_cpu(failures_text: str) -> bool:
    """Whether the CPU time of a request is known all the same: requests were late, but all right.

    Other programs take time from a request, and hardly any CPU time is added by it.
    """
    return all(
        one.startswith(_OF_A_BUSY_MACHINE) for one in filter(None, failures_text.split("; "))
    )


def notes(cell: Cell, result: Result, usage: Usage, is_cold: bool, tracked: int) -> list[str]:
    """Remarks about a point that do not make it invalid."""
    found = []
    if result.errors:
        found.append(f"errors: {result.error_list}")
    if result.is_bottleneck:
        found.append("load generator saturated")
    if result.starved_share:
        share = f"{result.starved_share:.0%}"
        found.append(f"load generator starved: {share} of its time without a core")
    if tracked > _MOST_TRACKED:
        found.append(f"connection tracking table has {tracked} entries")
    if any(core.stolen > _MOST_STOLEN for core in usage.cores.values()):
        found.append("the hypervisor took more than 10% of a core")
    if is_cold and cell.request == "get":
        found += _cold_notes(result, usage)
    return found


def gaps(window: list[Sample]) -> list[str]:
    """A remark about the longest time in which the machine was not sampled; [] without one."""
    found = observed.gaps(window)
    if not found:
        return []
    begin_s, length_s = max(found, key=lambda gap: gap[1])
    one_of = f", the longest of {len(found)} gaps" if found[1:] else ""
    return [f"no sample of the machine for {length_s:.1f} s, from second {begin_s:.1f} on{one_of}"]


def served_matches(counted: dict[str, int], client_total: int | None) -> str:
    """Compares the servers' own counts with the number of requests that the clients made.

    Each request is one connection to the fileserver and one request to the authserver. Returns a
    failure, or "" when the numbers agree or one side does not say.
    """
    if client_total is None:
        return ""
    sides = {
        "fileserver_connections": "the fileserver took {} connections",
        "authserver_requests": "the authserver answered {} requests",
    }
    found = [
        text.format(counted[name])
        for name, text in sides.items()
        if counted.get(name, client_total) != client_total
    ]
    return f"{' and '.join(found)}, the clients made {client_total}" if found else ""


def _cold_notes(result: Result, usage: Usage) -> list[str]:
    read_bytes = sum(disk.read_bytes_per_s for disk in usage.disks.values()) * result.elapsed_s
    if read_bytes >= _COLD_SHARE * result.bytes:
        return []
    return [f"not cold: {read_bytes / max(1, result.bytes):.0%} of the bytes came from the disk"]
