"""The logs of transfers: a line of each form, and lines that are not of it."""

import unittest
from dataclasses import replace

from lab.observe import transfer_logs
from lab.observe.log_formats import Served, make_up
from rig.transfer_log import NETLOGGER, TURNSTILE, XFERLOG

OURS = (
    b'{"result":"ok","asked":1795296704.427465,"first_byte":1795296704.427470,'
    b'"last_byte":1795296705.427503,"bytes":6,"size":6,"client":"127.0.0.1","name":"hello.txt"}'
)
OF_WU_FTPD = b"Fri Oct  2 13:12:20 2026 3 10.0.0.7 300000 /mnt/load 1.txt b _ i r lab ftp 0 * c"
OF_GRIDFTP = (
    b"DATE=20261002131220.004321 HOST=gridftp PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
    b"START=20261002131217.500000 USER=nobody FILE=/dev/null BUFFER=87380 BLOCK=262144 "
    b"NBYTES=300000 VOLUME=/ STREAMS=1 STRIPES=1 DEST=[10.0.0.7] TYPE=STOR CODE=226 TASKID=none"
)
NOON = 1790946740.0  # 2 October 2026, 13:12:20 UTC
LINES = {TURNSTILE: OURS, XFERLOG: OF_WU_FTPD, NETLOGGER: OF_GRIDFTP}


def only(form: str, line: bytes) -> Served:
    recorded = transfer_logs.read(form, line + b"\n")
    assert recorded.skipped == 0, recorded
    (one,) = recorded.served
    return one


class FormsTest(unittest.TestCase):
    def test_ours(self) -> None:
        wanted = Served(
            start_s=1795296704.427465,
            end_s=1795296705.427503,
            bytes=6,
            peer_address="127.0.0.1",
            name="hello.txt",
            is_whole=True,
            resolution_s=1e-6,
        )
        self.assertEqual(only(TURNSTILE, OURS), wanted)

    def test_ours_of_a_request_that_moved_nothing(self) -> None:
        line = b'{"result":"denied","asked":7.5,"bytes":0,"client":"::1","name":"x"}'
        one = only(TURNSTILE, line)
        self.assertEqual((one.start_s, one.end_s, one.is_whole), (7.5, 7.5, False))

    def test_changes_without_a_file_are_no_transfers(self) -> None:
        line = OURS.replace(b'"bytes"', b'"change":"mkcol","bytes"') + b"\n"
        self.assertEqual(transfer_logs.read(TURNSTILE, line), transfer_logs.Recorded([], 0))
        put = only(TURNSTILE, OURS.replace(b'"bytes"', b'"change":"put","bytes"'))
        self.assertEqual(put.bytes, 6)

    def test_xferlog(self) -> None:
        wanted = Served(
            start_s=NOON - 3,
            end_s=NOON,
            bytes=300_000,
            peer_address="10.0.0.7",
            name="/mnt/load 1.txt",
            is_whole=True,
            resolution_s=1.0,
        )
        self.assertEqual(only(XFERLOG, OF_WU_FTPD), wanted)
        for letter in (b"o", b"i"):
            other = OF_WU_FTPD.replace(b" i r ", b" %b a " % letter)
            self.assertEqual(only(XFERLOG, other), wanted)
        broken_off = OF_WU_FTPD.removesuffix(b"c") + b"i"
        self.assertEqual(only(XFERLOG, broken_off), replace(wanted, is_whole=False))
        deleted = OF_WU_FTPD.replace(b" i r ", b" d r ") + b"\n"
        self.assertEqual(transfer_logs.read(XFERLOG, deleted), transfer_logs.Recorded([], 0))

    def test_gridftp(self) -> None:
        one = only(NETLOGGER, OF_GRIDFTP)
        self.assertAlmostEqual(one.end_s, NOON + 0.004321, places=6)
        self.assertAlmostEqual(one.start_s, NOON - 2.5, places=6)
        self.assertEqual((one.bytes, one.peer_address), (300_000, "10.0.0.7"))
        self.assertEqual(one.name, "/dev/null")
        self.assertTrue(one.is_whole)
        self.assertFalse(only(NETLOGGER, OF_GRIDFTP.replace(b"=226", b"=426")).is_whole)
        mapped = only(NETLOGGER, OF_GRIDFTP.replace(b"[10.0.0.7]", b"[::FFFF:10.0.0.7]"))
        self.assertEqual(mapped.peer_address, "10.0.0.7")
        listing = OF_GRIDFTP.replace(b"=STOR", b"=NLST") + b"\n"
        self.assertEqual(transfer_logs.read(NETLOGGER, listing), transfer_logs.Recorded([], 0))

    def test_gridftp_before_microseconds_had_leading_zeros(self) -> None:
        one = only(NETLOGGER, OF_GRIDFTP.replace(b"20.004321", b"20.4321"))
        self.assertAlmostEqual(one.end_s, NOON + 0.004321, places=6)

    def test_a_name_may_look_like_the_rest_of_a_line(self) -> None:
        odd = b"a b _ i r lab ftp 0 * c"
        one = only(XFERLOG, OF_WU_FTPD.replace(b"/mnt/load 1.txt", odd))
        self.assertEqual(one.name, odd.decode())
        named = OF_GRIDFTP.replace(b"/dev/null", b"x BUFFER=1 BLOCK=2 NBYTES=3 y")
        self.assertEqual(only(NETLOGGER, named).bytes, 300_000)


class HostileLinesTest(unittest.TestCase):
    def skipped(self, form: str, line: bytes) -> None:
        """It is skipped, and the lines around it are read."""
        good = LINES[form] + b"\n"
        recorded = transfer_logs.read(form, good + line + b"\n" + good)
        self.assertEqual((len(recorded.served), recorded.skipped), (2, 1), line)

    def test_the_line_that_is_being_written_is_skipped_and_counted(self) -> None:
        for form, line in LINES.items():
            for length in range(1, len(line) + 1):
                recorded = transfer_logs.read(form, line + b"\n" + line[:length])
                self.assertEqual((len(recorded.served), recorded.skipped), (1, 1))

    def test_a_part_of_a_line_is_skipped(self) -> None:
        for form, line in LINES.items():
            for part in (b"", line[:20], line[20:], line[:-20]):
                self.skipped(form, part)

    def test_lines_that_are_no_text_are_skipped(self) -> None:
        for form in LINES:
            for line in (
                b"\x00\xff\xfe",
                b"{}",
                b"[]",
                b"null",
                b"17",
                b'"x"',
                b"x" * 20_000,
                b"[" * 9_000,
            ):
                self.skipped(form, line)

    def test_numbers_that_no_transfer_has_are_skipped(self) -> None:
        for number in (b"-1", b"NaN", b"Infinity", b"1e400", b"9" * 400, b'"x"', b"null", b"[]"):
            self.skipped(TURNSTILE, OURS.replace(b'"bytes":6', b'"bytes":' + number))
            self.skipped(TURNSTILE, OURS.replace(b"1795296704.427465", number))
        for number in (b"-1", b"9" * 400, b"0x10", b""):
            self.skipped(XFERLOG, OF_WU_FTPD.replace(b" 300000 ", b" " + number + b" "))
            self.skipped(NETLOGGER, OF_GRIDFTP.replace(b"=300000 ", b"=" + number + b" "))

    def test_a_line_that_is_too_long_is_skipped(self) -> None:
        self.skipped(TURNSTILE, OURS.replace(b"hello", 10_000 * b"x"))
        self.skipped(XFERLOG, OF_WU_FTPD.replace(b"load", 10_000 * b"x"))
        self.skipped(NETLOGGER, OF_GRIDFTP.replace(b"null", 10_000 * b"x"))

    def test_times_that_there_are_not_are_skipped(self) -> None:
        self.skipped(XFERLOG, OF_WU_FTPD.replace(b"Oct", b"Okt"))
        self.skipped(XFERLOG, OF_WU_FTPD.replace(b"13:12", b"25:12"))
        self.skipped(NETLOGGER, OF_GRIDFTP.replace(b"=202610", b"=202613"))

    def test_a_transfer_that_ends_before_it_begins_is_skipped(self) -> None:
        self.skipped(TURNSTILE, OURS.replace(b"1795296705", b"1795296703"))
        self.skipped(NETLOGGER, OF_GRIDFTP.replace(b"START=2026", b"START=2027"))


def one(*parts: tuple[int, int], size: int | None = None, is_whole: bool = True) -> Served:
    count = sum(last - first + 1 for first, last in parts) if size is None else size
    return Served(
        start_s=0.0,
        end_s=1.0,
        bytes=count,
        peer_address="",
        name="a",
        is_whole=is_whole,
        resolution_s=1e-6,
        parts=parts,
    )


class MakeUpTest(unittest.TestCase):
    def test_parts_in_any_order_make_up_a_file(self) -> None:
        self.assertTrue(make_up([one((50, 99)), one((0, 49))], 100))
        self.assertTrue(make_up([one((0, 9), (90, 99)), one((10, 89))], 100))

    def test_a_transfer_without_parts_is_the_whole_file(self) -> None:
        self.assertTrue(make_up([one(size=100)], 100))
        self.assertFalse(make_up([one(size=99)], 100))

    def test_a_gap_a_part_that_was_sent_twice_and_a_missing_end_are_told(self) -> None:
        self.assertFalse(make_up([one((0, 49)), one((51, 99))], 100))
        self.assertFalse(make_up([one((0, 49)), one((49, 99))], 100))
        self.assertFalse(make_up([one((0, 49)), one((50, 98))], 100))
        self.assertFalse(make_up([one((0, 99)), one((0, 99))], 100))
        self.assertFalse(make_up([], 100))

    def test_a_gap_is_told_that_another_part_makes_good_in_bytes(self) -> None:
        self.assertFalse(make_up([one((0, 59)), one((50, 79)), one((90, 99))], 100))

    def test_what_broke_off_does_not_count(self) -> None:
        self.assertFalse(make_up([one((0, 49)), one((50, 99), is_whole=False)], 100))
        self.assertTrue(make_up([one((0, 99)), one((0, 99), size=10, is_whole=False)], 100))

    def test_fewer_bytes_than_the_parts_have_are_told(self) -> None:
        self.assertFalse(make_up([one((0, 99), size=60)], 100))
