"""Compares this host with what downloads by clients need: links, their tools, and what watches."""

import os
from collections.abc import Callable
from pathlib import Path

from rig.host import Tool
from rig.link import Link

from ..kinds import CLIENT
from ..plan import machines
from ..plan.catalog import Stage
from ..plan.plan import Plan
from . import limits
from .limits import Finding

_TUN = Path("/dev/net/tun")
_DELAY_LINE = "lab/delay_line"  # in the folder of the programs
_IP, _TC, _SS = (Tool((name,), "iproute2") for name in ("ip", "tc", "ss"))
_CURL, _IPERF3 = Tool(("curl",), "curl"), Tool(("iperf3",), "iperf3")
_APT = Tool(("apt-get",), "apt")
_OF_HOST, _OURS = ("curl", "curl-through"), ("loadgen", "loadgen-plain")


def compare(plan: Plan, programs: Path) -> list[Finding]:
    """[] for a plan without downloads.

    A client that this host does not have is left out by name, so nothing else is lost. Those that
    are neither ours nor of the host are unpacked from packages, for which apt is needed.
    """
    names = dict.fromkeys(cell.stage for cell in plan.cells if cell.kind is CLIENT)
    stages = [plan.stages[name] for name in names]
    if not stages:
        return []

    def over(fits: Callable[[Link], bool]) -> str:
        return _named([one for one in stages if fits(machines.link(plan.options.link or one.link))])

    clients = {one.download.client for one in stages if one.download}
    delayed = over(lambda link: link.delay_ms > 0)
    needs = [
        (_IP, over(lambda link: bool(link.rate))),
        (_TC, over(lambda link: bool(link.rate) and not link.delay_ms)),
    ]
    further = [_SS, _IPERF3]
    further += [_CURL] if clients.intersection(_OF_HOST) else []
    further += [_APT] if clients.difference(_OF_HOST, _OURS) else []
    found = [limits.of_tool(tool, lost) for tool, lost in needs if lost]
    found += [limits.of_tool(tool, "") for tool in further]
    return found + (_of_delays(programs, delayed) if delayed else [])


def _of_delays(programs: Path, lost: str) -> list[Finding]:
    is_built = (programs / _DELAY_LINE).is_file()
    may_open = os.access(_TUN, os.R_OK | os.W_OK)
    return [
        Finding(
            _DELAY_LINE,
            "built" if is_built else "missing",
            "built",
            "" if is_built else "make",
            "" if is_built else lost,
        ),
        Finding(
            f"{_TUN}, for links with a delay",
            "may be opened" if may_open else "cannot be opened",
            "may be opened",
            "" if may_open else "modprobe tun, or --device /dev/net/tun for a container",
            "" if may_open else lost,
        ),
    ]


def _named(stages: list[Stage]) -> str:
    """ "" for none."""
    return limits.of_stages([one.name for one in stages]) if stages else ""
