"""How late a sleeper wakes, beside the samples of a run."""

import time
import unittest

from lab.observe.moment import Sample
from lab.observe.sleeper import Sleeper, Wake, beside, quantile_ms

_WINDOW = [Sample(10.0, {"a": 1.0}), Sample(11.0, {"a": 2.0}), Sample(12.0, {"a": 3.0})]


class SleeperTest(unittest.TestCase):
    def test_it_wakes_while_the_block_is_active_and_tells_when_and_how_late(self) -> None:
        for seconds in (0.5, 5, 50):  # a busy host may need long to start a program
            before = time.time()
            with Sleeper() as sleeper:
                time.sleep(seconds)
            wakes = sleeper.wakes()
            if len(wakes) > 1:
                break
        self.assertGreater(len(wakes), 1)
        self.assertEqual(wakes, sorted(wakes, key=lambda wake: wake.time_s))
        self.assertGreater(wakes[0].time_s, before)
        self.assertLess(wakes[-1].time_s, time.time())
        self.assertGreaterEqual(min(wake.late_ms for wake in wakes), 0.0)

    def test_it_is_another_process_that_leaves_with_the_block(self) -> None:
        with Sleeper() as sleeper:
            program = sleeper._program
            self.assertIsNone(program.poll())
        self.assertEqual(program.poll(), 0)

    def test_quantiles_are_of_the_window_only(self) -> None:
        inside = [Wake(10.5 + n / 1000, float(n)) for n in range(1, 101)]
        wakes = [Wake(9.9, 500.0), *inside, Wake(12.1, 500.0)]
        self.assertEqual(quantile_ms(wakes, _WINDOW, 0.5), 50.0)
        self.assertEqual(quantile_ms(wakes, _WINDOW, 0.99), 99.0)
        self.assertIsNone(quantile_ms([Wake(9.9, 500.0)], _WINDOW, 0.99))

    def test_a_sample_has_the_worst_lateness_since_the_one_before(self) -> None:
        wakes = [Wake(9.9, 7.0), Wake(10.2, 0.1), Wake(10.9, 3.0), Wake(11.0, 0.2)]
        found = beside(_WINDOW, wakes)
        self.assertEqual([one.values["a"] for one in found], [1.0, 2.0, 3.0])
        late = [one.values.get("host.sleeper_late_ms") for one in found]
        self.assertEqual(late, [None, 3.0, None])
