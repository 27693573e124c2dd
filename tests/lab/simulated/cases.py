"""Systems whose answers are known, and the questions that the lab answers about them."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from simulated.system import Machine, System, environment

from lab.analysis import findings
from lab.analysis.cells import Analysis
from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, SEEN
from lab.plan.catalog import Cell
from lab.plan.claims import Claim, Gain, Limit

_STAGE, _OTHER, _ROW = "prefetching", "redis", "1KB"
_FULL = 5  # passes, and blocks of each gain
USUAL_POWER = 0.95
_A_THIRD = 1.5  # the slowest pass has two thirds of the speed of the fastest


@dataclass(frozen=True, kw_only=True)
class Case:
    """right are the answers that are true. All others are wrong, except "cannot tell".

    power is the share of experiments in which a right answer can be told at least.
    """

    name: str
    truth: str
    systems: dict[str, System]  # by their stages
    answer: Callable[[Analysis], str]
    right: tuple[str, ...]
    passes: int = _FULL
    blocks: int = 0
    drift: float = 1.1
    noise: float = 1.0
    power: float = USUAL_POWER

    def ask(self, seed: int) -> str:
        """The answer of the lab to one experiment. The same seed gives the same experiment."""
        random = Random(f"{self.name} {seed}")
        systems = {Cell(stage, _ROW): system for stage, system in self.systems.items()}
        machine = Machine(random, self.passes, self.blocks, self.drift, self.noise)
        return self.answer(Analysis(machine.runs(systems), environment(systems, random)))


def _judged(claim: Claim) -> Callable[[Analysis], str]:
    return lambda analysis: findings.judge(claim, analysis)[0].verdict


def _limit(kind: str = "", owner: str = "") -> Callable[[Analysis], str]:
    return _judged(Limit(text="", stage=_STAGE, rows=(_ROW,), kind=kind, owner=owner))


def _gain(is_equal: bool = False) -> Callable[[Analysis], str]:
    return _judged(Gain(text="", before=_STAGE, after=_OTHER, rows=(_ROW,), is_equal=is_equal))


def _named(analysis: Analysis) -> str:
    """The label of the verdict, or "cannot tell" where the rule lists several or none."""
    verdict = analysis.results()[0].verdict
    is_generator = verdict.label == "load generator"
    return verdict.label if verdict.named or is_generator else CANNOT_TELL


def _shared(fileserver: float, authserver: float, store: float, loadgen: float) -> System:
    """A system that is limited by the CPU that all share."""
    return System(
        cpu_ms={
            "fileserver": fileserver,
            "authserver": authserver,
            "store": store,
            "loadgen": loadgen,
        }
    )


def _faster(gain: float) -> System:
    """Than _USUAL, by this factor."""
    return System(cpu_ms={name: need / gain for name, need in _USUAL.cpu_ms.items()})


_USUAL = _shared(0.2, 0.3, 0.3, 0.2)

CASES = (
    Case(
        name="60% of a full CPU",
        truth="the authserver is the limit",
        systems={_STAGE: _shared(0.15, 0.6, 0.15, 0.1)},
        answer=_limit(owner="authserver"),
        right=(SEEN,),
    ),
    Case(
        name="51% of a full CPU, one other 49%",
        truth="two components alike",
        systems={_STAGE: System(cpu_ms={"fileserver": 0.49, "authserver": 0.51})},
        answer=_limit(owner="authserver"),
        right=(CANNOT_TELL,),
    ),
    Case(
        name="51% of a full CPU, others far behind",
        truth="the authserver, by a point",
        systems={_STAGE: _shared(0.2, 0.51, 0.15, 0.14)},
        answer=_limit(owner="authserver"),
        right=(SEEN, CANNOT_TELL),
    ),
    Case(
        name="22% of a full CPU",
        truth="the fileserver is not the limit",
        systems={_STAGE: _shared(0.22, 0.4, 0.28, 0.1)},
        answer=_limit(owner="fileserver"),
        right=(NOT_SEEN,),
    ),
    Case(
        name="40% of a full CPU",
        truth="nobody has over half",
        systems={_STAGE: _shared(0.22, 0.4, 0.28, 0.1)},
        answer=_limit(owner="authserver"),
        right=(CANNOT_TELL,),
    ),
    Case(
        name="a full CPU, a fifth of it stolen",
        truth="the CPU is the limit",
        systems={
            _STAGE: System(cpu_ms={"fileserver": 0.3, "store": 0.5, "loadgen": 0.2}, stolen=0.2)
        },
        answer=_limit(kind="cpu"),
        right=(SEEN,),
    ),
    Case(
        name="a lying load generator",
        truth="the load generator is the limit",
        systems={_STAGE: _shared(0.2, 0.1, 0.1, 0.6)},
        answer=_named,
        right=("load generator",),
    ),
    Case(
        name="a lying load generator, asked for the server",
        truth="nothing is told about the servers",
        systems={_STAGE: _shared(0.35, 0.05, 0.05, 0.6)},
        answer=_limit(owner="fileserver"),
        right=(CANNOT_TELL,),
    ),
    Case(
        name="a full disk",
        truth="the disk is the limit",
        systems={_STAGE: System(cpu_ms={"fileserver": 0.6, "loadgen": 0.4}, disk_ms=2.0)},
        answer=_limit(kind="disk"),
        right=(SEEN,),
    ),
    Case(
        name="disk and CPU alike",
        truth="two resources alike",
        systems={_STAGE: System(cpu_ms={"fileserver": 1.4, "loadgen": 0.6}, disk_ms=1.0)},
        answer=_limit(kind="disk"),
        right=(CANNOT_TELL,),
        drift=_A_THIRD,
    ),
    Case(
        name="disk and CPU alike, one pass",
        truth="two resources alike",
        systems={_STAGE: System(cpu_ms={"fileserver": 1.4, "loadgen": 0.6}, disk_ms=1.0)},
        answer=_limit(kind="disk"),
        right=(CANNOT_TELL,),
        passes=1,
    ),
    Case(
        name="a full link, CPU to spare",
        truth="the network is the limit",
        systems={
            _STAGE: System(
                cpu_ms={"fileserver": 0.3, "loadgen": 0.2},
                size_bytes=100_000,
                link_bytes_per_s=117e6,
            )
        },
        answer=_limit(kind="network"),
        right=(SEEN,),
    ),
    Case(
        name="a lock that no counter sees",
        truth="no measured resource",
        systems={_STAGE: System(cpu_ms={"fileserver": 0.6, "loadgen": 0.4}, lock_ms=1.0)},
        answer=_limit(kind="cpu"),
        right=(CANNOT_TELL,),
    ),
    Case(
        name="a lock, and a probe of the disk that is far too low",
        truth="no measured resource",
        systems={
            _STAGE: System(
                cpu_ms={"fileserver": 0.1, "loadgen": 0.1},
                lock_ms=1.0,
                disk_ms=0.05,
                size_bytes=100_000,
                disk_probes=(100e6, 100e6),
            )
        },
        answer=_limit(kind="disk"),
        right=(CANNOT_TELL,),
    ),
    Case(
        name="a disk whose probes contradict each other",
        truth="full by one of them, half full by the other",
        systems={
            _STAGE: System(
                cpu_ms={"fileserver": 0.6, "loadgen": 0.4},
                disk_ms=2.0,
                size_bytes=100_000,
                disk_probes=(50e6, 100e6),
            )
        },
        answer=_limit(kind="disk"),
        right=(CANNOT_TELL,),
    ),
    Case(
        name="a gain of 1.3, drift of a third",
        truth="a gain",
        systems={_STAGE: _USUAL, _OTHER: _faster(1.3)},
        answer=_gain(),
        right=(SEEN,),
        drift=_A_THIRD,
        power=0.1,
    ),
    Case(
        name="a gain of 2, drift of a third",
        truth="a gain",
        systems={_STAGE: _USUAL, _OTHER: _faster(2.0)},
        answer=_gain(),
        right=(SEEN,),
        drift=_A_THIRD,
        power=0.9,
    ),
    Case(
        name="equal stages, drift of a third",
        truth="no gain",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(),
        right=(NOT_SEEN, CANNOT_TELL),
        drift=_A_THIRD,
    ),
    Case(
        name="equal stages, twice the noise",
        truth="no gain",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(),
        right=(NOT_SEEN, CANNOT_TELL),
        drift=_A_THIRD,
        noise=2.0,
    ),
    Case(
        name="60% of a full CPU, twice the noise",
        truth="the authserver is the limit",
        systems={_STAGE: _shared(0.15, 0.6, 0.15, 0.1)},
        answer=_limit(owner="authserver"),
        right=(SEEN,),
        drift=_A_THIRD,
        noise=2.0,
    ),
    Case(
        name="equal stages, asked for likeness",
        truth="alike",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(is_equal=True),
        right=(SEEN, CANNOT_TELL),
        drift=_A_THIRD,
    ),
    Case(
        name="a gain of 1.2, asked for likeness",
        truth="not alike",
        systems={_STAGE: _USUAL, _OTHER: _faster(1.2)},
        answer=_gain(is_equal=True),
        right=(NOT_SEEN, CANNOT_TELL),
        drift=_A_THIRD,
    ),
    Case(
        name="equal stages, two passes",
        truth="no gain",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(),
        right=(NOT_SEEN, CANNOT_TELL),
        passes=2,
        drift=_A_THIRD,
    ),
    Case(
        name="equal stages, one pass",
        truth="no gain",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(),
        right=(NOT_SEEN, CANNOT_TELL),
        passes=1,
    ),
    Case(
        name="a gain of 1.15, side by side",
        truth="a gain",
        systems={_STAGE: _USUAL, _OTHER: _faster(1.15)},
        answer=_gain(),
        right=(SEEN,),
        blocks=_FULL,
        drift=_A_THIRD,
        power=0.1,
    ),
    Case(
        name="a gain of 1.5, side by side",
        truth="a gain",
        systems={_STAGE: _USUAL, _OTHER: _faster(1.5)},
        answer=_gain(),
        right=(SEEN,),
        blocks=_FULL,
        drift=_A_THIRD,
        power=0.9,
    ),
    Case(
        name="equal stages, side by side",
        truth="no gain",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(),
        right=(NOT_SEEN, CANNOT_TELL),
        blocks=_FULL,
        drift=_A_THIRD,
    ),
    Case(
        name="equal stages, side by side, for likeness",
        truth="alike",
        systems={_STAGE: _USUAL, _OTHER: _USUAL},
        answer=_gain(is_equal=True),
        right=(SEEN,),
        blocks=_FULL,
        drift=_A_THIRD,
        power=0.0,
    ),
    Case(
        name="a gain of 1.6, three blocks",
        truth="a gain",
        systems={_STAGE: _USUAL, _OTHER: _faster(1.6)},
        answer=_gain(),
        right=(SEEN,),
        passes=1,
        blocks=3,
        drift=_A_THIRD,
        power=0.3,
    ),
    Case(
        name="a maximum that was not reached",
        truth="equal maxima, one beyond the last N",
        systems={
            _STAGE: System(cpu_ms=_USUAL.cpu_ms, delay_ms=500.0),
            _OTHER: _USUAL,
        },
        answer=_gain(),
        right=(CANNOT_TELL,),
    ),
)
