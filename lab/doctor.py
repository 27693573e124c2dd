"""`lab doctor`: compares this host with what the chosen experiments need, and says what to mend."""

from __future__ import annotations

from pathlib import Path

from .observe import client_limits, limits
from .observe.limits import Finding
from .plan import plan
from .plan.pinning import Placement
from .plan.plan import Options
from .procedures.progress import duration
from .rig.cores import usable_cores


def examine(options: Options, programs: Path, work: Path) -> int:
    """Prints a line for each finding. Returns 1 if one of them has a fix, else 0."""
    todo = plan.make(options, usable_cores(), work / "files")
    findings = limits.compare(todo, programs, work)
    findings.append(_cores(todo.placement))
    if options.has_remote_client:
        findings += client_limits.compare(options.client, todo.most_threads)
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        print(
            f"{'SHORT' if finding.fix else 'ok':5}  {finding.name:{width}}  "
            f"{finding.value} (wanted: {finding.wanted})"
        )
        if finding.fix:
            print(f"{'':7}{'':{width}}  fix: {finding.fix}")
    names = ", ".join(experiment.name for experiment in todo.experiments)
    print(f"{names}: about {duration(todo.seconds)}")
    return 1 if any(finding.fix for finding in findings) else 0


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
