"""Compares the limits of this host with what a load test needs."""

import os
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rig import control_group, namespace, stores
from rig.files import DROP_CACHES
from rig.host import HAPROXY, NGINX, OPENSSL, Tool, is_container, is_root

from ..kinds.tls import PROXY
from ..plan import catalog
from ..plan.plan import Plan
from . import tried_limits, usage
from .sampler import Sampler

_LOOK_AROUND_S = 1.0
_FILES_WANTED = 200_000  # fs.file-max, as in scripts/tune-host
_PORT_HELD_S = 60  # after its connection was closed, whatever the settings are
_OTHER_THREADS = 200  # of stores, of servers without a client, and of the lab
_USUAL_CROWD = 1000  # an example, where the number of users is searched
_MAY_DISTURB = frozenset(
    {"cron", "crond", "anacron", "atd", "packagekitd"}
    | {"Xorg", "Xwayland", "gnome-shell", "kwin_wayland"}
)

DESCRIPTORS_WANTED = 64000  # in limits.conf, as in the paper
_TUNE = "sudo scripts/tune-host --apply"
# What `scripts/setup lab` installs, without starting anything.
_OF_SETUP = frozenset(
    {"curl", "haproxy", "iperf3", "iproute2", "mariadb-server", "nginx", "openssl"}
    | {"redis-server", "redis-tools", "valgrind"}
)
_TOOLS = tuple(Tool((name,), "util-linux") for name in ("setpriv", "taskset", "lscpu", "unshare"))
_IP, _TC = Tool(("ip",), "iproute2"), Tool(("tc",), "iproute2")
_TOOLS_OF_VIEWS = {
    "network_probe": Tool(("iperf3",), "iperf3"),
    "profile": Tool(("valgrind",), "valgrind"),
}


@dataclass(frozen=True)
class Finding:
    """fix says what to do about it; it is empty when nothing needs doing.

    loses says what cannot be measured without the fix; it is empty when all can.
    """

    name: str
    value: str
    wanted: str
    fix: str = ""
    loses: str = ""


def quietness() -> Finding:
    """The share of the cores that other programs use, before the lab starts any."""
    with Sampler({}) as sampler:
        time.sleep(_LOOK_AROUND_S)
    first, *_, last = sampler.samples()
    busy = usage.between([first, last]).foreign_share
    fix = (
        "wait or stop them, or measure with --shared; points that they disturb are invalid"
        if busy > usage.MOST_FOREIGN
        else ""
    )
    return Finding(
        "cores used by other programs", f"{busy:.0%}", f"at most {usage.MOST_FOREIGN:.0%}", fix
    )


def compare(plan: Plan, programs: Path, work: Path) -> list[Finding]:
    """What the host has and what the plan needs, for everything that the plan needs."""
    most_threads = plan.most_threads
    stages = list(dict.fromkeys(cell.stage for cell in plan.cells))
    findings = [
        *([quietness()] if stages else []),
        _descriptors(most_threads),
        of_threads(tried_limits.smallest(), 2 * most_threads + _OTHER_THREADS),
        _all_files(),
        _neighbours(),
        *_network(most_threads),
        *_ports_of_crowds(plan),
        _namespace(),
        *_programs(programs),
    ]
    findings += [of_tool(tool, loses) for tool, loses in _tools(plan)]
    findings += [_disk(plan, work), _memory(plan)]
    cold = [name for name in stages if plan.stages[name].cold]
    if cold:
        findings += [_cold(cold), _disk_behind(work)]
    if limited := [one for one in stages if plan.stages[one].machine or plan.stages[one].cluster]:
        findings.append(_control_groups(limited))
    return findings


def _descriptors(most_threads: int) -> Finding:
    return of_descriptors(*resource.getrlimit(resource.RLIMIT_NOFILE), 3 * most_threads + 200)


def of_descriptors(soft: int, hard: int, need: int) -> Finding:
    fix = (
        "" if hard >= need else f"in /etc/security/limits.conf: * hard nofile {DESCRIPTORS_WANTED}"
    )
    return Finding("open files (soft, hard)", f"{soft}, {hard}", f"hard at least {need}", fix)


def of_threads(room: tried_limits.Room, need: int) -> Finding:
    """A server of threads or processes has one for each of the load generator's."""
    fix = "" if room.count >= need else f"raise it: {room.limit}"
    return Finding("threads that can be started", f"{room.count}", f"at least {need}", fix)


def _all_files() -> Finding:
    """Those of all programs together. A connection counts at both ends."""
    most = int(Path("/proc/sys/fs/file-max").read_text(encoding="ascii"))
    fix = "" if most >= _FILES_WANTED else _TUNE
    return Finding(
        "open files of all programs (fs.file-max)", str(most), f"at least {_FILES_WANTED}", fix
    )


def _neighbours() -> Finding:
    """They are not busy all the time, so the share of the cores does not show them."""
    programs, timers = _running(_MAY_DISTURB), _timers()
    found = [*sorted(programs), *timers]
    value = f"{', '.join(found)}: stop them before a run to quote" if found else "none"
    return Finding("desktop, cron and timers, which may disturb", value, "none")


def _running(names: frozenset[str]) -> set[str]:
    """Those of these programs that run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            found.add(path.read_text(encoding="utf-8", errors="replace").strip())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found & names


def _timers() -> list[str]:
    """Those of systemd that are due some time; [] on a host without it."""
    if not shutil.which("systemctl"):
        return []
    command = ["systemctl", "list-timers", "--no-legend", "--no-pager"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return re.findall(r"\S+\.timer\b", done.stdout)


def _network(most_threads: int) -> list[Finding]:
    settings = namespace.settings()
    backlog = settings["net.core.somaxconn"]
    return [
        Finding(
            "listen backlog (somaxconn)",
            backlog,
            f"at least {most_threads}",
            "" if int(backlog) >= most_threads else _TUNE,
        ),
        *of_connections(settings),
    ]


def of_connections(settings: Mapping[str, str]) -> list[Finding]:
    """What the side needs that connects; settings are those of the kernel by their names."""
    ports = _ports(settings)
    reuse = settings["net.ipv4.tcp_tw_reuse"]
    control = settings["net.ipv4.tcp_congestion_control"]
    return [
        Finding(
            "ports for connections", str(ports), "at least 28000", "" if ports >= 28000 else _TUNE
        ),
        Finding(
            "reuse of closed connections' ports (tcp_tw_reuse)",
            reuse,
            "1 or 2",
            "" if reuse in ("1", "2") else _TUNE,
        ),
        Finding(
            "congestion control",
            control,
            "cubic or reno",
            "" if control in ("cubic", "reno") else _TUNE,
        ),
    ]


def _ports_of_crowds(plan: Plan) -> list[Finding]:
    """With FTP each fetch takes a port of the server, which closes the connection and so keeps it
    until the kernel forgets it.
    """
    ports = _ports(namespace.settings())
    needs = {
        f"{users:,} users of {cell.row} at {crowd.rate_bytes_s:g} B/s by FTP": ports_held(
            users, crowd.rate_bytes_s, catalog.sizes()[cell.row].size_bytes
        )
        for cell in plan.cells
        if (crowd := plan.stages[cell.stage].crowd) and "ftp" in plan.stages[cell.stage].loadgen
        for users in (max(plan.planned[cell].steps or (_USUAL_CROWD,)),)
    }
    return [
        Finding(
            "ports of closed connections",
            f"{ports} of the server's address",
            f"{need:,.0f} for {what}",
            "" if need <= ports else f"{_TUNE}, or fewer users",
        )
        for what, need in needs.items()
    ]


def ports_held(users: int, rate_bytes_s: float, size_bytes: int) -> float:
    """By data connections of FTP that were closed, while each user fetches at this rate."""
    return users * rate_bytes_s / size_bytes * _PORT_HELD_S


def _ports(settings: Mapping[str, str]) -> int:
    low, _, high = settings["net.ipv4.ip_local_port_range"].partition(" ")
    return int(high) - int(low) + 1


def _namespace() -> Finding:
    if namespace.is_inside():
        return Finding("network namespace of its own", "yes", "yes")
    tracked = namespace.tracked_connections()
    fix = "run the lab as root, which may make one" if tracked else ""
    return Finding("network namespace of its own", f"no; {tracked} tracked connections", "yes", fix)


def _programs(programs: Path) -> list[Finding]:
    return [
        Finding(
            name,
            "built" if (programs / name).is_file() else "missing",
            "built",
            "" if (programs / name).is_file() else "make",
        )
        for name in ("fileserver", "authserver", "loadgen")
    ]


def _tools(plan: Plan) -> list[tuple[Tool, str]]:
    """What the plan needs beside the programs under test, with what is lost without it."""
    of_kinds: dict[str, list[str]] = {}
    of_plan = dict.fromkeys(cell.stage for cell in plan.cells)
    for stage in of_plan:
        if kind := plan.stages[stage].store:
            of_kinds.setdefault(kind, []).append(stage)
    views = {view: one.name for one in plan.experiments for view in one.views}
    proxied = [one for one in of_plan if plan.stages[one].cluster]
    encrypted = {name: how for name in of_plan if (how := plan.stages[name].encryption)}
    by_nginx = [name for name, how in encrypted.items() if how.by == PROXY]
    with_keys = [name for name, how in encrypted.items() if how.by]
    return [
        *((tool, of_stages(proxied)) for tool in (HAPROXY, _IP, _TC) if proxied),
        *((NGINX, of_stages(by_nginx)) for _ in by_nginx[:1]),
        *((OPENSSL, of_stages(with_keys)) for _ in with_keys[:1]),
        *((tool, "") for tool in _TOOLS),
        *(
            (tool, views[view] if view == "profile" else "")
            for view, tool in _TOOLS_OF_VIEWS.items()
            if view in views
        ),
        *(
            (tool, of_stages(of_kinds[kind]))
            for kind in sorted(of_kinds)
            for tool in stores.KINDS[kind].tools
        ),
    ]


def of_tool(tool: Tool, loses: str) -> Finding:
    if found := tool.found():
        return Finding(" or ".join(tool.names), found, "installed")
    # apt alone would start a database or a proxy now, and whenever the host starts.
    by_setup = tool.package in _OF_SETUP
    fix = "scripts/setup lab" if by_setup else f"apt-get install {tool.package}"
    return Finding(" or ".join(tool.names), "missing", "installed", fix, loses)


def of_stages(names: Sequence[str]) -> str:
    return f"the {'stage' if len(names) == 1 else 'stages'} {', '.join(names)}"


def _disk(plan: Plan, work: Path) -> Finding:
    sizes = catalog.sizes()
    free = shutil.disk_usage(work).free
    shared = {cell.row for cell in plan.cells if cell.kind.few_files}
    fewer = [
        name
        for name, count in plan.file_counts.items()
        if name not in shared and count < sizes[name].files[plan.mode.name]
    ]
    wanted = {
        name: sizes[name].files[plan.mode.name] if name in fewer else count
        for name, count in plan.file_counts.items()
    }
    need = sum(max(4096, sizes[name].size_bytes) * count for name, count in wanted.items())
    fix = (
        f"free some disk or memory; too few files of {', '.join(fewer)} for the method"
        if fewer
        else ""
    )
    return Finding("disk for test files", f"{free / 1e9:.1f} GB free", f"{need / 1e9:.1f} GB", fix)


def _memory(plan: Plan) -> Finding:
    sizes = catalog.sizes()
    need = max(
        (sizes[name].size_bytes * count for name, count in plan.file_counts.items()), default=0
    )
    have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    fix = "" if have >= 2 * need else "the fileserver will serve a part from disk: --memory-limit"
    return Finding(
        "memory for prefetched files", f"{have / 1e9:.1f} GB", f"{2 * need / 1e9:.1f} GB", fix
    )


def _cold(stages: Sequence[str]) -> Finding:
    """The permissions of the file tell: in a container, root often may not."""
    if os.access(DROP_CACHES, os.W_OK):
        return Finding("may drop caches", "yes", "yes")
    return Finding("may drop caches", "no", "yes", _more_rights(), of_stages(stages))


def _control_groups(stages: Sequence[str]) -> Finding:
    """Those that limit the program that serves files."""
    name, folder = "control groups", control_group.Hierarchies().parent("cpu")
    if os.access(folder, os.W_OK):
        return Finding(name, "may be made", "may be made")
    return Finding(
        name, f"{folder} cannot be written", "may be made", _more_rights(), of_stages(stages)
    )


def _more_rights() -> str:
    """A namespace of ours makes root of any user, so the name root says nothing."""
    if is_container():
        return "run it as root in a privileged container, or on the host itself"
    return "run it as root of the host" if is_root() else "run it with sudo"


def _disk_behind(work: Path) -> Finding:
    device = os.stat(work).st_dev
    is_on_disk = (
        os.major(device) != 0
        or Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").exists()
    )
    return Finding(
        "test files are on a disk",
        "yes" if is_on_disk else "no (memory or an overlay)",
        "yes",
        "" if is_on_disk else "use --work FOLDER on a disk, or cold points may not be cold",
    )
