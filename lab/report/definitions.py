"""What the terms of a report mean, and by which rules it judges: those of its workloads."""

from __future__ import annotations

from collections.abc import Collection

from ..kinds import KINDS
from .document import Block, Bullets, Heading

_OF_SWEEPS = [
    "Response time R: from before the client connects until it has the last byte of the reply.",
    "Throughput X: completed requests per second of the measured window. A request counts only if "
    "every reply to it was right.",
    "Maximum: the highest median over the passes, with the 95% interval of the mean (* = minimum "
    "and maximum: fewer than three runs). Without an interval there was one run. ≥ marks a lower "
    "bound: the maximum was not reached, or a higher point failed its checks. The highest of "
    "several medians is a little too high.",
    "Utilisation U: the share of the measured window in which a resource was busy, or how many "
    "cores. Service demand D: how long a request keeps the resource busy. It is the slope of U "
    "over X of all runs of the sweep (utilisation law). Components that share cores are one "
    "resource, and no core is counted twice. A disk's utilisation is its bytes or its requests per "
    "second, as a share of what it did in a probe before the run.",
    "N*: the smallest N within 5% of the highest throughput. It is found within each pass; the "
    "median and the range of the passes are shown. The predicted one is where exact mean value "
    "analysis reaches 95% of its asymptote, from the demands and the response time at N = 1. The "
    "crossing is that of the asymptotes.",
    "Gain: the ratio of two stages, with a 99% interval. A report has dozens of gains, so at 95% "
    "one or two would be wrong by chance. It is measured with both systems up, in blocks A B B A "
    "of trials seconds apart at the larger of their N*. Where there are no three such blocks, it "
    "is that of the plateaus (all N with 95% of the maximum) within each pass. † marks a gain of "
    "which one maximum was not reached: it tells nothing.",
    "Bottleneck: the first of these rules that holds decides, over all runs from N* to the highest "
    "N that still has 95% of the maximum. (1) The load generator, if it says so in most runs. (2) "
    "The busiest resource, if it was busy for 90% of the window or more; if the load generator "
    "used over half of that CPU, the servers were not the limit. (3) Not saturated, if throughput "
    "still rose at the last N. (4) The busiest resource, called close, if it was busy for 70% or "
    "more. (5) None. A resource is named alone only if it leads by five points in every pass (in "
    "every run if there are fewer than three); otherwise those that are alike are listed. A "
    "shared CPU is named after a component only if that used over half of it in every pass and "
    "five points more than any other, load generator included. Loopback counts only if nothing "
    "else is at 70%.",
    "Self-checks: X·R is within 3% of N. Bytes = requests × size. At most 1% of the requests "
    "failed. The servers counted as many connections and requests as the client. Neither had more "
    "than 3N + 64 threads, and their number did not rise steadily. At most 12N + 1,000 ends of "
    "connections were open. Other programs used at most 10% of the cores. A point that fails is "
    "drawn hollow and listed below; it is in no table.",
    "Finding: a gain is seen here if its interval is above 1 and it is over 3%, and not seen if "
    "the interval is below 1.03. With two passes, both must show ×1.3. “Comparable” is seen if "
    "the whole interval is within 15%. A bottleneck is held against the resource that the rule "
    "names; it cannot be told if the rule names none or several. A maximum that was not reached "
    "tells nothing.",
]
_SIZES = "Sizes are decimal: 1KB is 1,000 bytes, 1MB a million; 1KiB is 1,024, 1MiB 1,048,576."


def definitions(workloads: Collection[str]) -> list[Block]:
    """Of the sweeps, and of workloads that have terms of their own."""
    found = []
    if not workloads or any(KINDS[name].is_swept for name in workloads):
        found += _OF_SWEEPS
    own = [kind.part("views") for name, kind in KINDS.items() if name in workloads]
    found += [term for views in own if views for term in views.TERMS]
    return [Heading(2, "Definitions and rules"), Bullets([*found, _SIZES])]
