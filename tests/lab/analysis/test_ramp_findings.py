"""Findings about ramps: each kind is seen, not seen, and cannot be told, where it is so."""

import unittest
from dataclasses import replace
from typing import Any

import examples
from made_up_ramps import KIB, MIB, RAMP_OF_TESTS, MadeUp

from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, SEEN
from lab.kinds.ramp import findings as ramp_findings
from lab.kinds.ramp.analysis import RampResult
from lab.plan.claims import (
    AnswersLinks,
    CapacityHolds,
    Drifts,
    EarlyKnee,
    FollowsThroughput,
    MemoryOfEach,
    OfRamp,
    Ratio,
    SharedLimit,
    Side,
    ViewsAgree,
)
from rig.nodes import Change

OF_ALL: dict[str, Any] = {"text": "a finding", "stage": "sink", "rows": ("this",)}
MORE = Ratio(
    text="a finding",
    kind="ramp",
    here=Side(stage="sink"),
    there=Side(stage="sink", row="that"),
    rows=("this",),
    above=1.2,
    below=2.0,
)
SHARED = SharedLimit(**OF_ALL, alone=("wide", "near"), doubled="doubled")
MEMORY = MemoryOfEach(**OF_ALL)
CPU = FollowsThroughput(**OF_ALL, slower="slower", faster="faster")
AGREE = ViewsAgree(**OF_ALL, within=0.01)
RISES, FALLS = Drifts(**OF_ALL, rises=True), Drifts(**OF_ALL, rises=False)
ANSWERS = AnswersLinks(**OF_ALL, above=1.1)
EARLY = EarlyKnee(**OF_ALL, share=0.7)
CAPACITY = CapacityHolds(**OF_ALL, foretold_by="third")
LIMIT = 10 * MIB + 1000 * 64 * KIB  # as the servers that are made up bear 1,000
SHORT = replace(RAMP_OF_TESTS, life_s=13.0)  # its plateau has a dozen steps


def at(mib: float, **changes: float) -> MadeUp:
    """That brings so many MiB/s on the plateau."""
    return MadeUp(rate=lambda load, _: mib * MIB * load, **changes)  # type: ignore[arg-type]


def tried(uploads: float, used: float = 0.99, **changes: Any) -> RampResult:
    """A ramp that goes on until memory ends, where so much of the limit was used."""
    felt = replace(examples.usage(), figures={"group_used_bytes": used * LIMIT})
    usual = {"uploads_borne": uploads, "first_failed_s": 7.0, "memory_limit_bytes": LIMIT}
    return MadeUp().result(usage=felt, **{**usual, **changes})


def verdict(
    finding: OfRamp | Ratio, this: RampResult | MadeUp, **others: RampResult | MadeUp
) -> str:
    """Of these results of the stage, by their rows."""
    known = {"this": this, **others}
    results = {row: one.result() if isinstance(one, MadeUp) else one for row, one in known.items()}
    told = ramp_findings.judge(finding, "this", lambda _, row: results.get(row))
    assert told
    return told.verdict


class FindingsTest(unittest.TestCase):
    def test_throughput_is_so_many_times_another(self) -> None:
        self.assertEqual(verdict(MORE, at(40), that=at(25)), SEEN)
        self.assertEqual(verdict(MORE, at(40), that=at(39)), NOT_SEEN)
        self.assertEqual(verdict(MORE, at(40), that=at(10)), NOT_SEEN)
        noisy = at(40, rate_noise=0.6)
        self.assertEqual(verdict(MORE, noisy, that=at(32)), CANNOT_TELL)

    def test_two_beds_share_a_link_that_limits_them(self) -> None:
        alone = {"wide": at(40), "near": at(42, seed=2)}
        cases = (
            (at(41), at(80), SEEN),
            (at(80), at(81), NOT_SEEN),
            (at(41), at(42), CANNOT_TELL),  # something else limits both
            (at(66), at(80), CANNOT_TELL),  # 0.8 of the sum
        )
        for both, doubled, wanted in cases:
            self.assertEqual(verdict(SHARED, both, **alone, doubled=doubled), wanted)

    def test_each_client_takes_the_same_memory(self) -> None:
        self.assertEqual(verdict(MEMORY, MadeUp()), SEEN)
        self.assertEqual(verdict(MEMORY, MadeUp(memory_of_each=0)), NOT_SEEN)
        self.assertEqual(verdict(MEMORY, MadeUp(memory_noise=16 * MIB)), CANNOT_TELL)
        self.assertEqual(verdict(MEMORY, MadeUp(memory_noise=1 * MIB)), CANNOT_TELL)

    def test_memory_is_that_of_the_servers_where_they_have_a_group(self) -> None:
        found = MadeUp().result()
        noise = MadeUp(memory_noise=1 * MIB).result().machine.memory_bytes
        beside_others = replace(found, machine=replace(found.machine, memory_bytes=noise))
        self.assertEqual(verdict(MEMORY, beside_others), SEEN)
        nothing: list[None] = [None] * len(found.times_s)
        alone = replace(beside_others.machine, group_bytes=nothing)
        self.assertEqual(verdict(MEMORY, replace(found, machine=alone)), CANNOT_TELL)

    def test_the_cpu_goes_with_throughput(self) -> None:
        self.assertEqual(self._cpu(), SEEN)
        self.assertEqual(self._cpu(cores_of_each_mib=0, cores_of_each_upload=0.01), NOT_SEEN)
        self.assertEqual(self._cpu(cores_of_each_mib=0), CANNOT_TELL)
        self.assertEqual(self._cpu(cpu_noise=3.0), CANNOT_TELL)

    def test_where_throughput_did_not_rise_the_cpu_has_no_answer(self) -> None:
        self.assertEqual(self._cpu(faster=44), CANNOT_TELL)

    def test_a_quarter_more_cpu_may_be_another_speed_of_the_machine(self) -> None:
        """By 1.7 times of the throughput, some 1.5 times of the CPU or 1.2 times."""
        self.assertEqual(self._cpu(faster=68), SEEN)
        self.assertEqual(self._cpu(faster=68, cores_of_each_mib=0.001), CANNOT_TELL)

    def test_a_cpu_that_is_full_has_no_answer(self) -> None:
        self.assertEqual(self._cpu(cores_of_each_mib=0.046), CANNOT_TELL)
        of_clients = {"cores_of_each_mib": 0.0, "cores_of_each_upload": 0.0185}
        self.assertEqual(self._cpu(**of_clients), CANNOT_TELL)  # the faster ramp has them at once

    def _cpu(self, faster: float = 80, **changes: float) -> str:
        """Of clients that hardly bring more from 15 of 100 on."""

        def early(load: float, _: float) -> float:
            return 40 * MIB * min(1.0, 10 * load)

        return verdict(
            CPU,
            MadeUp(rate=early, **changes),  # type: ignore[arg-type]
            slower=at(40, **changes),
            faster=at(faster, **changes),
        )

    def test_both_views_agree_within_a_share(self) -> None:
        self.assertEqual(verdict(AGREE, MadeUp(server=1.001)), SEEN)
        for server in (0.97, 1.03):
            apart = MadeUp(server=server)
            self.assertEqual(verdict(AGREE, apart), NOT_SEEN)
            self.assertEqual(verdict(replace(AGREE, within=0.05), apart), SEEN)
        self.assertEqual(verdict(AGREE, MadeUp(server_noise=0.2)), CANNOT_TELL)
        self.assertEqual(verdict(AGREE, MadeUp(server=None)), CANNOT_TELL)

    def test_throughput_drifts_while_all_are_there(self) -> None:
        better = MadeUp(rate=lambda load, over: 40 * MIB * load * (1 + 0.5 * over))
        worse = MadeUp(rate=lambda load, over: 40 * MIB * load * (1 - 0.5 * over))
        self.assertEqual((verdict(RISES, better), verdict(FALLS, better)), (SEEN, NOT_SEEN))
        self.assertEqual((verdict(RISES, worse), verdict(FALLS, worse)), (NOT_SEEN, SEEN))
        self.assertEqual((verdict(RISES, at(40)), verdict(FALLS, at(40))), (NOT_SEEN, NOT_SEEN))
        noisy = replace(better, rate_noise=3.0)
        self.assertEqual(verdict(RISES, noisy), CANNOT_TELL)

    def test_a_drift_that_is_sure_but_small_is_none(self) -> None:
        little = MadeUp(rate=lambda load, over: 40 * MIB * load * (1 + 0.03 * over), rate_noise=0)
        self.assertEqual(verdict(RISES, little), NOT_SEEN)

    def test_throughput_answers_when_links_change(self) -> None:
        """From 24 s to 25 s of a plateau from 9.9 s to 40 s."""
        self.assertEqual(self._answers(1.3), SEEN)
        self.assertEqual(self._answers(1.05), NOT_SEEN)
        self.assertEqual(self._answers(0.5), NOT_SEEN)
        self.assertEqual(self._answers(1.3, rate_noise=0.6), CANNOT_TELL)

    def test_links_that_do_not_change_or_not_meanwhile_tell_nothing(self) -> None:
        self.assertEqual(verdict(ANSWERS, at(40)), CANNOT_TELL)
        self.assertEqual(self._answers(1.3, at_s=12.0), CANNOT_TELL)  # too little before
        self.assertEqual(self._answers(1.3, at_s=38.0), CANNOT_TELL)

    def _answers(self, times: float, at_s: float = 24.0, rate_noise: float = 0.02) -> str:
        (far,) = RAMP_OF_TESTS.hosts
        change = Change(at_s=at_s, rate="20mbit", stagger_s=1 / 9)
        ramp = replace(RAMP_OF_TESTS, hosts=(replace(far, changes=(change,)),))
        start_s, end_s = ramp.plateau_s
        is_after = (at_s + 0.5 - start_s) / (end_s - start_s)

        def rate(load: float, over: float) -> float:
            return 40 * MIB * load * (times if over > is_after else 1.0)

        return verdict(ANSWERS, MadeUp(ramp=ramp, rate=rate, rate_noise=rate_noise))

    def test_throughput_rises_no_more_from_a_share_of_the_clients_on(self) -> None:
        self.assertEqual(verdict(EARLY, MadeUp()), SEEN)
        self.assertEqual(verdict(replace(EARLY, share=0.3), MadeUp()), NOT_SEEN)
        found = MadeUp().result().knee.load
        assert found
        for end in (found.low, found.high):  # of the interval
            within = replace(EARLY, share=(found.value + end) / 2 / RAMP_OF_TESTS.clients)
            self.assertEqual(verdict(within, MadeUp()), CANNOT_TELL)
        self.assertEqual(verdict(EARLY, at(40)), NOT_SEEN)

    def test_what_memory_bears_is_foretold_by_fewer_clients(self) -> None:
        fewer = MadeUp()  # they foretell 1,000
        for uploads, wanted in ((950, SEEN), (700, NOT_SEEN), (1500, NOT_SEEN)):
            self.assertEqual(verdict(CAPACITY, tried(uploads), third=fewer), wanted, uploads)
        self.assertEqual(verdict(CAPACITY, tried(950, used=0.5), third=fewer), CANNOT_TELL)
        flat = MadeUp(memory_of_each=0, memory_noise=0)
        self.assertEqual(verdict(CAPACITY, tried(950), third=flat), CANNOT_TELL)
        perhaps = MadeUp(memory_noise=8 * MIB)  # whether it rises is not sure
        self.assertEqual(verdict(CAPACITY, tried(400), third=perhaps), CANNOT_TELL)

    def test_fewer_clients_that_memory_did_not_bear_foretell_nothing(self) -> None:
        runs = {"this": tried(950), "third": tried(90)}
        told = ramp_findings.judge(CAPACITY, "this", lambda _, row: runs.get(row))
        assert told
        self.assertEqual(told.verdict, CANNOT_TELL)
        self.assertRegex(told.figures, "^with 100 clients already, .* at 90 uploads$")

    def test_without_a_limit_of_memory_nothing_is_judged(self) -> None:
        runs = {"this": tried(950, memory_limit_bytes=None), "third": MadeUp().result()}
        self.assertIsNone(ramp_findings.judge(CAPACITY, "this", lambda _, row: runs.get(row)))

    def test_a_plateau_of_a_few_steps_tells_nothing(self) -> None:
        short = MadeUp(ramp=SHORT)
        for finding in (RISES, FALLS, AGREE):
            self.assertEqual(verdict(finding, short), CANNOT_TELL, finding)
        self.assertEqual(verdict(MORE, short, that=at(10)), CANNOT_TELL)
        self.assertEqual(verdict(MORE, at(40), that=short), CANNOT_TELL)
        others = {name: at(40) for name in ("wide", "near", "doubled")}
        self.assertEqual(verdict(SHARED, short, **others), CANNOT_TELL)

    def test_a_run_that_is_not_valid_tells_nothing(self) -> None:
        invalid = MadeUp().result(failures="it was late")
        others: dict[str, RampResult | MadeUp] = {
            name: at(20) for name in ("that", "wide", "near", "doubled", "slower", "faster")
        }
        for finding in (MORE, SHARED, MEMORY, CPU, AGREE, RISES, EARLY):
            self.assertEqual(verdict(finding, invalid, **others), CANNOT_TELL, finding)
        for row, finding in (
            ("that", MORE),
            ("wide", SHARED),
            ("doubled", SHARED),
            ("slower", CPU),
        ):
            with_one = {**others, row: invalid}
            self.assertEqual(verdict(finding, MadeUp(), **with_one), CANNOT_TELL, row)

    def test_what_was_not_measured_is_not_judged(self) -> None:
        found = MadeUp().result()
        for finding in (MORE, SHARED, CPU):
            told = ramp_findings.judge(
                finding, "this", lambda _, row: found if row == "this" else None
            )
            self.assertIsNone(told)
        self.assertIsNone(ramp_findings.judge(MEMORY, "this", lambda *_: None))

    def test_a_verdict_has_the_figures_that_it_stands_on(self) -> None:
        found = MadeUp().result()
        told = ramp_findings.judge(MEMORY, "this", lambda *_: found)
        assert told
        self.assertRegex(told.figures, r"^0\.06[23] MiB ± 0\.00\d each, R² [01]\.\d{3}$")
