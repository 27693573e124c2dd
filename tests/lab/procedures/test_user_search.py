"""The search for the most users that hold, against servers whose answer is known."""

import unittest

import examples

from lab.kinds.crowd.procedure import Answer, UserSearch, most_users
from lab.plan.catalog import CrowdTrial
from lab.plan.planned import Setting
from lab.procedures.sweep import FixedOrder

TRIAL = CrowdTrial(
    stable_s=1, starts_per_s=100, first_users=100, close_enough=1.05, confirmations=2
)


def trial(users: int, held: int, **changes):
    return examples.run(users, users_held=float(held), **changes)


def searched(search: UserSearch, bears) -> list:
    """All trials of a server of which bears(users, trial number) says how many hold."""
    runs: list = []
    while (setting := search.next_setting(runs, 1)) is not None:
        runs.append(trial(setting.threads, bears(setting.threads, len(runs))))
        if len(runs) > 100:
            raise AssertionError("the search does not end")
    return runs


class UserSearchTest(unittest.TestCase):
    def test_the_limit_is_found_within_five_percent_and_confirmed(self):
        for limit in (1, 7, 100, 101, 730, 4_321, 9_000):
            search = UserSearch(TRIAL, 10_000)
            runs = searched(search, lambda users, _, most=limit: min(users, most))
            found = search.answer(runs)
            assert found and found.fails
            self.assertLessEqual(found.holds, limit)
            self.assertGreater(found.fails, limit)
            self.assertLessEqual(found.fails, max(1.05 * found.holds, found.holds + 1))
            self.assertEqual(sum(run.threads == found.holds for run in runs), 2, limit)

    def test_a_server_that_bears_whatever_can_be_tried_has_no_limit(self):
        search = UserSearch(TRIAL, 1_000)
        runs = searched(search, lambda users, _: users)
        self.assertEqual(search.answer(runs), Answer(1_000, None))
        self.assertEqual([run.threads for run in runs], [100, 200, 400, 800, 1000, 1000])

    def test_a_server_that_bears_nobody_is_asked_for_one_user_before_it_is_given_up(self):
        search = UserSearch(TRIAL, 1_000)
        runs = searched(search, lambda users, _: 0)
        self.assertEqual(search.answer(runs), Answer(0, 1))
        self.assertEqual(runs[-1].threads, 1)

    def test_a_number_that_holds_once_and_not_again_does_not_hold(self):
        search = UserSearch(TRIAL, 200)
        runs = [trial(100, 100), trial(200, 200), trial(200, 199)]
        self.assertEqual(search.next_setting(runs, 1), Setting(150))

    def test_the_search_goes_on_where_it_was_stopped(self):
        search = UserSearch(TRIAL, 10_000)
        runs = searched(search, lambda users, _: min(users, 730))
        for length in range(len(runs)):
            following = search.next_setting(runs[:length], 1)
            self.assertEqual(following, Setting(runs[length].threads))
            self.assertIsNone(search.answer(runs[:length]))

    def test_trials_that_stay_invalid_end_the_search_without_an_answer(self):
        search = UserSearch(TRIAL, 10_000)
        runs = [trial(100, 50, failures="spoiled")]
        self.assertEqual(search.next_setting(runs, 1), Setting(100))
        self.assertIsNone(search.next_setting(3 * runs, 1))
        self.assertIsNone(search.answer(3 * runs))

    def test_over_ftp_a_user_takes_two_descriptors_of_the_load_generator(self):
        self.assertEqual(most_users(20_000, is_ftp=False), 19_900)
        self.assertEqual(most_users(20_000, is_ftp=True), 9_950)

    def test_there_is_one_pass(self):
        self.assertIsNone(UserSearch(TRIAL, 10_000).next_setting([], 2))


class FixedOrderTest(unittest.TestCase):
    def test_each_pass_has_all_points_in_the_order_of_the_stage(self):
        order = FixedOrder((6, 4, 1), passes=2)
        runs: list = []
        for repeat in (1, 2):
            while (setting := order.next_setting(runs, repeat)) is not None:
                runs.append(examples.run(setting.threads, repeat=repeat))
        self.assertEqual([run.threads for run in runs], [6, 4, 1, 6, 4, 1])
        self.assertEqual(order.points_in_all(runs), 6)

    def test_in_blocks_all_repetitions_of_a_point_are_in_a_row(self):
        order = FixedOrder((6, 1), passes=3, is_blocked=True)
        runs: list = []
        while (setting := order.next_setting(runs, 1)) is not None:
            repeat = 1 + sum(run.setting == setting for run in runs)
            runs.append(examples.run(setting.threads, repeat=repeat))
            self.assertLessEqual(len(runs), 6)
        self.assertEqual([run.threads for run in runs], [6, 6, 6, 1, 1, 1])
        self.assertIsNone(order.next_setting([], 2))
