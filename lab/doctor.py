"""`lab doctor`: compares this host with what the chosen experiments need, and says what to mend.

`lab run` prints the part of it that is short, before it measures.
"""

import sys
from dataclasses import replace
from pathlib import Path

from rig import remote
from rig.cores import usable_cores
from rig.errors import Failed

from .observe import download_limits, limits
from .observe.limits import Finding
from .plan import plan
from .plan.pinning import Placement
from .plan.plan import Options, Plan
from .procedures.progress import duration


def examine(options: Options, programs: Path, work: Path) -> int:
    """Prints a line for each finding. Returns 1 if one of them has a fix, else 0."""
    todo = plan.make(options, usable_cores(), work / "files")
    findings = _findings(todo, programs, work)
    print("\n".join(_lines(findings)))
    names = ", ".join(experiment.name for experiment in todo.experiments)
    print(f"{names}: about {duration(todo.seconds)}")
    return 1 if any(finding.fix for finding in findings) else 0


def before_a_run(options: Options, programs: Path, work: Path, *, is_anyway: bool) -> None:
    """Prints what is short. Failed if a part cannot be measured, unless the rest is wanted."""
    todo = plan.make(options, usable_cores(), work / "files")
    short = [finding for finding in _findings(todo, programs, work) if finding.fix]
    if short:
        print("\n".join(_lines(short)), file=sys.stderr, flush=True)
    lost = dict.fromkeys((finding.loses, finding.fix) for finding in short if finding.loses)
    if lost and not is_anyway:
        raise Failed(f"{_what_to_do(list(lost))}, or add --anyway to measure the rest")


def _what_to_do(lost: list[tuple[str, str]]) -> str:
    """Each of a pair is what cannot be measured, and what is to be done for it."""
    said, *more = lost
    text = f"{said[0]} cannot be measured: {said[1]}"
    for last, (loses, fix) in zip(lost, more, strict=False):
        text += f"; {fix}" if loses == last[0] else f"; for {loses}: {fix}"
    return text


def _findings(todo: Plan, programs: Path, work: Path) -> list[Finding]:
    """Those of the other host come last, but it is asked first: it may not be reached."""
    options = todo.options
    work.mkdir(parents=True, exist_ok=True)  # it may be new, and its disk is asked about
    of_client = (
        compare(options.client, todo.most_threads)
        if options.has_remote_client and not options.hosts
        else []
    )
    of_downloads = download_limits.compare(todo, programs)
    here = [*limits.compare(todo, programs, work), *of_downloads, _cores(todo.placement)]
    return [*here, *of_client]


def _lines(findings: list[Finding]) -> list[str]:
    """A finding has a second line if there is something to do about it."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(
            f"{'SHORT' if finding.fix else 'ok':5}  {finding.name:{width}}  "
            f"{finding.value} (wanted: {finding.wanted})"
        )
        if finding.fix:
            lines.append(f"{'':7}{'':{width}}  fix: {finding.fix}")
    return lines


def _cores(placement: Placement) -> Finding:
    """Too few cores cannot be mended; the finding says what that means for the results."""
    return (
        Finding("cores", str(len(placement.cores)), "4 for a core each", "")
        if len(placement.cores) >= 4
        else Finding(
            "cores",
            f"{len(placement.cores)}. {placement.of_run().meaning}",
            "4 for a core each",
        )
    )


_SETTINGS = (
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_congestion_control",
)
_UNLIMITED = 1 << 40
_SOME = 200  # descriptors beside the connections


def compare(destination: str, most_threads: int) -> list[Finding]:
    """Failed when ssh does not reach it."""
    paths = " ".join(f"/proc/sys/{name.replace('.', '/')}" for name in _SETTINGS)
    lines = remote.ask(destination, f"ulimit -Sn && ulimit -Hn && cat {paths}").splitlines()
    soft, hard = (_UNLIMITED if line == "unlimited" else int(line) for line in lines[:2])
    settings = {name: " ".join(line.split()) for name, line in zip(_SETTINGS, lines[2:])}
    found = [
        limits.of_descriptors(soft, hard, most_threads + _SOME),
        *limits.of_connections(settings),
    ]
    return [replace(one, name=f"{destination}: {one.name}") for one in found]
