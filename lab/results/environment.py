"""environment.json: how the points of a results folder were measured, and on what."""

from __future__ import annotations

from dataclasses import dataclass, field

from rig.cores import Cores
from rig.iperf3 import Carried
from rig.place import LOOPBACK, Place

from ..observe.callgrind import Profile
from ..observe.disk_probe import DiskProbe
from ..observe.host import Host
from ..observe.machine_probe import MachineProbe
from ..plan.catalog import Cell, Mode, Stage
from ..plan.pinning import Placement
from ..plan.plan import Options

_SETTINGS = ("options", "mode", "cores", "file_counts", "stages")


@dataclass(frozen=True, kw_only=True)
class StackRecord:
    """The programs that served a cell."""

    commands: dict[str, str]
    pinning: str
    store: str
    store_settings: dict[str, str]
    durability: str
    topology: str = Place.title  # where the load generator ran
    link: str = ""  # how fast what all load came over is; "" if that is not known
    mtu: int | None = None  # of that
    client: str = ""  # the program that fetched a file, and its version


@dataclass(kw_only=True)
class Environment:
    """The record of a results folder. Who changes it writes it, with Folder.write_environment().

    What has a default may be missing in a folder of an older version.
    """

    options: Options
    mode: Mode
    cores: Cores
    file_counts: dict[str, int] = field(default_factory=dict)
    stages: dict[str, Stage] = field(default_factory=dict)  # as they were when they were measured
    started_unix_s: float = 0.0
    host: Host = field(default_factory=Host)
    clients: dict[str, dict[str, str]] = field(default_factory=dict)  # hardware of other hosts
    pinning: str = ""
    open_files: str = ""
    descriptors: int | None = None  # that a program may have
    is_complete: bool = False
    commands: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)  # what was not measured, and why
    stacks: dict[str, StackRecord] = field(default_factory=dict)  # by the slug of the cell
    network_probe: Carried | None = None  # of loopback
    loopback_bytes_per_s: float | None = None
    disk_probe: DiskProbe | None = None  # of the disk below the work folder, before the runs
    disk_probe_behind: DiskProbe | None = None  # behind the last one
    link_probes: dict[str, Carried] = field(default_factory=dict)  # by the name of the place
    extents: dict[str, str] = field(default_factory=dict)  # size -> the pieces of its files
    machine_probes: dict[str, MachineProbe] = field(default_factory=dict)  # by its name
    profile: Profile | None = None

    def other_settings(self, other: Environment) -> list[str]:
        """The settings by which the two differ. Points of both may not be in one folder."""
        return [name for name in _SETTINGS if getattr(self, name) != getattr(other, name)]

    def keep_loopback(self, carried: Carried) -> None:
        self.network_probe = carried
        self.loopback_bytes_per_s = carried.bytes_per_s

    @property
    def disk_probes(self) -> list[DiskProbe]:
        return [one for one in (self.disk_probe, self.disk_probe_behind) if one]

    @property
    def placement(self) -> Placement:
        return Placement(self.options.pin, self.cores, not self.options.has_remote_client)

    def carries_bytes_per_s(self, topology: str) -> float | None:
        """What iperf3 got through the network of a run; None if that was not measured."""
        if topology == LOOPBACK:
            return self.loopback_bytes_per_s
        probed = self.link_probes.get(topology)
        return probed.bytes_per_s if probed else None

    def stack(self, cell: Cell) -> StackRecord | None:
        return self.stacks.get(cell.slug)
