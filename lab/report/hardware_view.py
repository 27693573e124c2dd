"""The view of hardware: every host of the run in the paper's rows."""

from __future__ import annotations

from ..results.environment import Environment
from . import wording
from .document import Block, Table, without_empty_columns
from .scene import Scene


def hardware(scene: Scene) -> list[Block]:
    """Of this host, memory, disks and the measured servers too."""
    environment, nothing = scene.environment, wording.NOTHING
    clients = environment.clients
    printed = scene.printed.hardware
    ours = _of_this_host(environment)
    rows = [
        [
            row,
            ours.get(row, nothing),
            *(hardware.get(row, nothing) for hardware in clients.values()),
            *of_paper,
        ]
        for row, of_paper in printed.items()
    ]
    unknown = [nothing] * (len(clients) + 2)
    rows += [[row, text, *unknown] for row, text in _more_of_this_host(environment, printed)]
    own = "servers and store, and the load generator where no other host is named"
    papers = "The paper had two machines. " if all(map(all, printed.values())) else ""
    return [
        without_empty_columns(
            Table(
                title="Hardware",
                caption=f"This host ran {own}. {papers}Read with lscpu, which may give the total "
                "of all cores for a cache.",
                header=["", "this host", *clients, "paper: load generator", "paper: servers"],
                rows=rows,
            )
        )
    ]


def _of_this_host(environment: Environment) -> dict[str, str]:
    """The link is the one that the load came over; if none is known, those of the host."""
    found = {
        **environment.host.hardware,
        "Memory": wording.byte_size(environment.host.memory_bytes),
        "Server": ", ".join(_servers(environment)),
    }
    stacks = environment.stacks.values()
    links = dict.fromkeys(one.link for one in stacks if one.link)
    sizes = dict.fromkeys(str(one.mtu) for one in stacks if one.link and one.mtu)
    if links:
        found["Link"], found["MTU"] = ", ".join(links), ", ".join(sizes)
    return found


def _servers(environment: Environment) -> list[str]:
    """With their versions: those that were measured, or ours before anything was."""
    stacks = environment.stacks.values()
    ours = " ".join(environment.host.versions.get("fileserver", "").split()[:2])
    found = [
        f"{one.store_settings['server']} {one.store_settings['version']}"
        if "server" in one.store_settings
        else ours
        for one in stacks
    ]
    return [name for name in dict.fromkeys(found or [ours]) if name]


def _more_of_this_host(
    environment: Environment, printed: dict[str, tuple[str, ...]]
) -> list[tuple[str, str]]:
    """What the paper does not tell of its own."""
    host = environment.host
    memory = [] if "Memory" in printed else [("Memory", wording.byte_size(host.memory_bytes))]
    return [*memory, *((f"Disk {name}", text) for name, text in host.disks.items())]
