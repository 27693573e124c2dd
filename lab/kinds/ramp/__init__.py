"""Clients that come one by one, from many hosts, and upload for a fixed life."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rig.nodes import Group

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Scale:
    """By what times and sizes are divided. Rates stay."""

    time: float
    file: float

    def __str__(self) -> str:
        same = f"{self.time:g}"
        return same if self.time == self.file else f"{same} (files: {self.file:g})"


@dataclass(frozen=True, kw_only=True)
class Ramp:
    """A paper's run, or one that it lacked. Its times are as long as the paper's until scaled()."""

    name: str
    title: str
    clients: int
    every_s: float  # a new client comes
    life_s: float  # of each client
    file_bytes: int  # of each upload
    hosts: tuple[Group, ...]
    server_link: str = ""  # the rate of what all hosts share; "" for no limit
    lost_share: float = 0.0  # of the testers, that are killed at loss_s
    until_it_ends: bool = False  # more clients come than the server's memory bears
    scales: dict[str, Scale]  # mode -> how it is measured
    scale: Scale = Scale(time=1, file=1)  # how it was

    @property
    def last_start_s(self) -> float:
        return self.every_s * (self.clients - 1)

    @property
    def length_s(self) -> float:
        return self.last_start_s + self.life_s

    @property
    def plateau_s(self) -> tuple[float, float]:
        """When the last client has come, and when the first one leaves. It may be empty."""
        return self.last_start_s, self.life_s

    @property
    def changes_s(self) -> tuple[float, float] | None:
        """When the first link changes, and when the last one does; None if none does."""
        moments = [
            one.at_s + one.stagger_s * number
            for group in self.hosts
            for one in group.changes
            for number in (0, group.count - 1)
        ]
        return (min(moments), max(moments)) if moments else None

    @property
    def loss_s(self) -> float:
        """In the middle of the first client's life: before the last one comes, the uploads that
        were under way then should have ended.
        """
        return self.life_s / 2

    @property
    def host_count(self) -> int:
        return sum(group.count for group in self.hosts)

    def has_load_of(self, other: Ramp) -> bool:
        """Whether both differ in nothing but their names and the testers that are killed."""
        return self._load() == other._load()

    def _load(self) -> Ramp:
        return replace(self, name="", title="", lost_share=0.0, scales={})

    def scaled(self, scale: Scale) -> Ramp:
        """The shape stays. A file has a whole number of KiB."""
        return replace(
            self,
            every_s=self.every_s / scale.time,
            life_s=self.life_s / scale.time,
            file_bytes=max(1024, round(self.file_bytes / scale.file / 1024) * 1024),
            hosts=tuple(_scaled(group, scale.time) for group in self.hosts),
            scale=scale,
        )


def _scaled(group: Group, by: float) -> Group:
    changes = tuple(
        replace(one, at_s=one.at_s / by, stagger_s=one.stagger_s / by) for one in group.changes
    )
    return replace(group, changes=changes)


KIND = Kind(
    name="ramp",
    suffix="-ramp",
    title=", a ramp",
    heading="Clients that come one by one",
    has_own_stages=True,
    is_by_http=True,
    needs_log=True,
)
