"""What a paper found, as claims that measurements can be held against. Read from findings.json."""

import math
from dataclasses import dataclass

from . import papers
from .from_json import from_json


@dataclass(frozen=True, kw_only=True)
class Side:
    """A figure of one of the two that a ratio compares."""

    stage: str
    at: int = 0  # so many transfers, channels or connections; 0: there is one number only
    row: str = ""  # "": that of the claim
    figure: str = ""  # "": that of the claim


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """At these rows, a figure of `here` is more than `above` times, and less than `below` times
    that of `there`.
    """

    text: str
    kind: str  # of the experiments that both are measured by
    here: Side
    there: Side
    rows: tuple[str, ...]
    figure: str = ""  # "": the rate
    above: float = 0.0
    below: float = math.inf


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Stage `after` is faster than `before` at these rows or, with is_equal, about as fast."""

    text: str
    before: str
    after: str
    rows: tuple[str, ...]
    is_equal: bool = False
    paper: str = ""  # whose numbers have its own gain; none if empty


@dataclass(frozen=True, kw_only=True)
class Limit:
    """At these rows of a stage the bottleneck is a resource of this kind and of this owner.

    An empty kind or owner matches all. With is_absent, the claim is the opposite.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    kind: str = ""
    owner: str = ""
    is_absent: bool = False


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """At these rows, the stage is faster with all cores for its fileserver than with one."""

    text: str
    stage: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bears:
    """At these rows, stage `more` bears more users of a crowd than stage `fewer`."""

    text: str
    more: str
    fewer: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Cheaper:
    """At these rows and the same users, the load generator of `stage` needs less CPU than that of
    stage `than`.
    """

    text: str
    stage: str
    than: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RoundTripForetold:
    """At these rows of a stage, the round trip beside a download is what all windows together take
    on the link, within this share, with two channels and with any number above.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    within: float


@dataclass(frozen=True, kw_only=True)
class ShareOfLink:
    """At these rows, the downloads of a stage carry a share of what the link is made for, less the
    headers, that is more than `above` and less than `below`, with their best number of channels.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    above: float = 0.0
    below: float = math.inf


@dataclass(frozen=True, kw_only=True)
class SharedLimit:
    """Two groups of hosts together bring less than the sum of what each brings alone, because of a
    link that they share: with that link doubled they bring more.

    The rows are that of both together.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    alone: tuple[str, ...]  # the ramps of each group
    doubled: str  # the ramp of both with the doubled link


@dataclass(frozen=True, kw_only=True)
class MemoryOfEach:
    """At these ramps, each client takes the same memory of the server."""

    text: str
    stage: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FollowsThroughput:
    """The CPU goes with throughput and not with the number of clients: with what comes by more
    clients in these ramps, when throughput has settled, and by more throughput from ramp `slower`
    to ramp `faster`, which have as many clients.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    slower: str
    faster: str


@dataclass(frozen=True, kw_only=True)
class ViewsAgree:
    """At these ramps, clients and server see the same throughput within this share."""

    text: str
    stage: str
    rows: tuple[str, ...]
    within: float


@dataclass(frozen=True, kw_only=True)
class Drifts:
    """Throughput rises, or falls, while all clients of these ramps are there."""

    text: str
    stage: str
    rows: tuple[str, ...]
    rises: bool


@dataclass(frozen=True, kw_only=True)
class AnswersLinks:
    """After the links of these ramps have changed, throughput is more than `above` times that of
    before, while all clients are there.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    above: float


@dataclass(frozen=True, kw_only=True)
class EarlyKnee:
    """At these ramps, throughput rises no more from less than this share of the clients on."""

    text: str
    stage: str
    rows: tuple[str, ...]
    share: float


@dataclass(frozen=True, kw_only=True)
class CapacityHolds:
    """How many clients memory bears at these ramps is foretold by ramp `foretold_by`, which has
    fewer of them.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    foretold_by: str


OfRamp = (
    SharedLimit
    | MemoryOfEach
    | FollowsThroughput
    | ViewsAgree
    | Drifts
    | AnswersLinks
    | EarlyKnee
    | CapacityHolds
)
OfDownload = RoundTripForetold | ShareOfLink
Claim = Ratio | Gain | Limit | Scaling | Bears | Cheaper | OfDownload | OfRamp
_KINDS: dict[str, type[Claim]] = {
    "ratio": Ratio,
    "gain": Gain,
    "limit": Limit,
    "scaling": Scaling,
    "bears": Bears,
    "cheaper": Cheaper,
    "round_trip_foretold": RoundTripForetold,
    "share_of_link": ShareOfLink,
    "shared_limit": SharedLimit,
    "memory_of_each": MemoryOfEach,
    "follows_throughput": FollowsThroughput,
    "views_agree": ViewsAgree,
    "drifts": Drifts,
    "answers_links": AnswersLinks,
    "early_knee": EarlyKnee,
    "capacity_holds": CapacityHolds,
}


def claims(paper: str) -> list[Claim]:
    return [
        from_json(_KINDS[entry["claim"]], {**entry, "paper": paper})
        for entry in papers.read(paper, "findings.json")["judged"]
    ]
