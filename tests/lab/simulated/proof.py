"""Counts how often the lab is right about systems whose answers are known: `make lab-proof`."""

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass

from simulated import cases, ramps

from lab.analysis.findings import CANNOT_TELL

Case = cases.Case | ramps.Case

CASES: tuple[Case, ...] = (*cases.CASES, *ramps.CASES)
SEEDS = 100
_SURE_SEEDS = 500  # that decide where a hundred say no: two of them may be wrong by chance
_MOST_WRONG = 0.01


@dataclass(frozen=True)
class Score:
    """The answers to one case. An answer "cannot tell" is right where nothing can be told."""

    case: Case
    right: int
    cannot_tell: int  # where the right answer could be told
    wrong: dict[str, int]  # answer -> how often

    @property
    def seeds(self) -> int:
        return self.right + self.cannot_tell + sum(self.wrong.values())

    @property
    def is_good(self) -> bool:
        power, wrong = self.case.power, sum(self.wrong.values())
        least_right = power * self.seeds - 2 * self._spread(power)
        return self.right >= least_right and (
            wrong <= _MOST_WRONG * self.seeds + 2 * self._spread(_MOST_WRONG)
        )

    def _spread(self, share: float) -> float:
        """How far the count of so many seeds usually is from their share. Few tell hardly more."""
        return math.sqrt(share * (1 - share) * self.seeds) if self.seeds < SEEDS else 0.0


def score(case: Case, seeds: int) -> Score:
    return _scored(case, Counter(case.ask(seed) for seed in range(seeds)))


def sure_score(case: Case, seeds: int) -> Score:
    """The same. Of a case that is not good with a hundred seeds or more, more of them decide."""
    answers = Counter(case.ask(seed) for seed in range(seeds))
    found = _scored(case, answers.copy())
    if found.is_good or not SEEDS <= seeds < _SURE_SEEDS:
        return found
    return _scored(case, answers + Counter(case.ask(seed) for seed in range(seeds, _SURE_SEEDS)))


def _scored(case: Case, answers: Counter[str]) -> Score:
    right = sum(answers.pop(one, 0) for one in case.right)
    cannot_tell = answers.pop(CANNOT_TELL, 0)
    return Score(case, right, cannot_tell, dict(answers))


def main() -> int:
    parser = argparse.ArgumentParser(prog="make lab-proof", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="experiments of each case")
    seeds = parser.parse_args().seeds
    line = "{:<52}{:<44}{:>6}{:>7}{:>8}{:>13}{:>7}  {}"
    names = ("case", "the truth", "seeds", "right", "wanted", "cannot tell", "wrong", "")
    print(line.format(*names))
    is_good = True
    for case in CASES:
        found = sure_score(case, seeds)
        is_good &= found.is_good
        wrong = ", ".join(f"{text}: {count}" for text, count in found.wrong.items())
        print(
            line.format(
                case.name,
                case.truth,
                found.seeds,
                found.right,
                f"{case.power:.0%}",
                found.cannot_tell,
                sum(found.wrong.values()),
                ("" if found.is_good else "FAILED ") + wrong,
            ).rstrip(),
            flush=True,
        )
    print(
        f"Confidently wrong may be {_MOST_WRONG:.0%} of the seeds. Where {SEEDS} of a case say no, "
        f"{_SURE_SEEDS} decide."
    )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
