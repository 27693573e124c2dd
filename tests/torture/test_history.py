"""The checker of histories finds each kind of wrong answer, and nothing else."""

import unittest

from history import LOST, MIXED, Operation, body_of, version_of, wrong_answers


def new(secret: str, at: float, answer: str, until: float | None = None) -> Operation:
    return Operation("new", "bob", secret, at, at + 1 if until is None else until, answer)


def get(secret: str, at: float, answer: str, until: float | None = None) -> Operation:
    return Operation("get", "bob", secret, at, at + 1 if until is None else until, answer)


def file(granted: str, answer: str) -> Operation:
    return Operation("file", "a.txt", granted, 0, 1, answer)


class HistoryTest(unittest.TestCase):
    def assert_wrong(self, why: str, *operations: Operation) -> None:
        for order in (operations, operations[::-1]):
            found = list(wrong_answers(order))
            self.assertTrue(any(why in text for text in found), f"{why!r} not in {found}")

    def assert_right(self, *operations: Operation) -> None:
        for order in (operations, operations[::-1]):
            self.assertEqual(list(wrong_answers(order)), [])

    def test_an_account_is_made_once_and_used(self) -> None:
        self.assert_right(
            get("a", 0, "denied"),
            new("a", 2, "OK"),
            new("b", 2, "exists"),
            new("a", 5, "exists"),
            get("a", 5, "OK"),
            get("b", 5, "denied"),
        )

    def test_a_second_ok_is_wrong(self) -> None:
        self.assert_wrong("second OK", new("a", 0, "OK"), new("b", 0, "OK"))
        self.assert_wrong("second OK", new("a", 0, "OK"), new("a", 5, "OK"))

    def test_exists_needs_a_reason(self) -> None:
        self.assert_wrong("nothing can have made it", new("a", 0, "exists"))
        self.assert_wrong("nothing can", new("a", 0, "exists"), new("b", 0, "exists"))
        self.assert_wrong("nothing can", new("a", 0, "exists"), new("b", 5, "OK"))

    def test_a_request_without_an_answer_is_a_reason(self) -> None:
        for failed in ("unavailable", LOST):
            self.assert_right(new("a", 0, failed), new("b", 2, "exists"), get("a", 4, "OK"))
            self.assert_right(new("a", 0, failed), new("a", 2, "OK"))
        self.assert_right(new("a", 0, "unavailable"), get("a", 2, "denied"), get("a", 4, "OK"))

    def test_a_taken_name_is_not_given_again(self) -> None:
        unknown = new("a", 0, LOST)
        self.assert_wrong("taken", unknown, new("b", 2, "exists"), new("a", 4, "OK"))
        self.assert_wrong("taken", unknown, get("a", 2, "OK"), new("a", 4, "OK"))
        self.assert_right(unknown, new("b", 2, "exists", 5), new("a", 4, "OK"))

    def test_the_password_of_the_winner_keeps_working(self) -> None:
        self.assert_wrong("no longer works", new("a", 0, "OK"), get("a", 2, "denied"))
        self.assert_wrong(
            "no longer works", new("a", 0, LOST), get("a", 2, "OK"), get("a", 4, "denied")
        )
        self.assert_right(new("a", 0, "OK"), get("a", 0.5, "denied"))
        self.assert_right(new("a", 0, "OK"), get("a", 2, "unavailable"), get("a", 2, LOST))

    def test_no_other_password_works(self) -> None:
        self.assert_wrong("two passwords", new("a", 0, "OK"), new("b", 0, LOST), get("b", 2, "OK"))
        self.assert_wrong(
            "two passwords",
            new("a", 0, LOST),
            new("b", 0, LOST),
            get("a", 2, "OK"),
            get("b", 2, "OK"),
        )

    def test_a_password_that_nobody_set_does_not_work(self) -> None:
        self.assert_wrong("no account can have", get("a", 0, "OK"))
        self.assert_wrong("no account can have", new("a", 5, "OK"), get("a", 0, "OK"))
        self.assert_wrong("no account", new("a", 0, "exists"), new("b", 0, LOST), get("a", 2, "OK"))

    def test_each_request_has_its_own_answers(self) -> None:
        for operation in (
            new("a", 0, "denied"),
            new("a", 0, "syntax"),
            get("a", 0, "exists"),
            get("a", 0, "internal"),
        ):
            self.assert_wrong("not an answer", operation)

    def test_files_are_for_those_who_were_granted(self) -> None:
        self.assert_right(file("OK", "7"), file("denied", "denied"), file("unavailable", "denied"))
        self.assert_right(file("OK", LOST), file(LOST, LOST))
        self.assert_wrong("without a granted get", file("denied", "7"))
        self.assert_wrong("without a granted get", file("unavailable", MIXED))
        self.assert_wrong("not a version", file("OK", "denied"))
        self.assert_wrong("not a version", file("OK", "not-found"))

    def test_a_mixed_body_is_wrong(self) -> None:
        self.assert_wrong("not a version", file("OK", MIXED))

    def test_a_body_is_of_one_version(self) -> None:
        long, longer = body_of("a.txt", 5), body_of("a.txt", 8)
        self.assertLess(len(long), len(longer))
        self.assertEqual(version_of("a.txt", long), "5")
        for mixed in (
            b"",
            long[:-1],
            long + b"x",
            long[:64] + longer[64:],
            longer[:640] + long[640:],
            long[:-64] + bytes(64),
            body_of("b.txt", 5),
        ):
            self.assertEqual(version_of("a.txt", mixed), MIXED)
