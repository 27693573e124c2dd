"""loadgen --tls: clients that never wait do over TLS what they do in clear, as threads do."""

import unittest

import server_pairs
import test_loadgen_channel_ends
import test_loadgen_channel_faults
import test_loadgen_channels
import test_loadgen_reconnects
import test_loadgen_tls
from loadgen_scene import GET


class UsersTlsTest(test_loadgen_tls.LoadgenTlsTest):
    shares_threads = True


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class TlsReconnectsTest(test_loadgen_reconnects.LoadgenReconnectsTest):
    encrypts = True


class UsersTlsReconnectsTest(TlsReconnectsTest):
    shares_threads = True


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class TlsChannelFaultsTest(test_loadgen_channel_faults.LoadgenChannelFaultsTest):
    encrypts = True


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class TlsChannelEndsTest(test_loadgen_channel_ends.LoadgenChannelEndsTest):
    encrypts = True


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class TlsChannelsTest(test_loadgen_channels.LoadgenChannelsTest):
    encrypts = True

    def assert_connections(self, made: int, channels: int) -> None:
        """All bytes may be there before the last handshakes are done."""
        self.assertGreater(made, 0)
        self.assertLessEqual(made, channels)

    def test_connections_of_the_next_file_resume(self) -> None:
        for flags, handshakes, resumed in (
            ((), 9, 6),
            (("--tls-resume", "off"), 9, 0),
            (("--connection", "keep-alive"), 3, 0),
        ):
            with self.subTest(flags):
                result = self.get("big", "--channels", 3, "--requests", 3, *flags)
                tls = result["tls"]
                self.assertEqual((tls["handshakes"], tls["resumed"]), (handshakes, resumed))
                self.assertEqual(result["connections"], handshakes)
                self.assertGreater(tls["handshake_ms"]["min"], 0)

    def test_a_server_that_is_not_believed_is_told_no_password(self) -> None:
        self.encrypts = False
        asked = (*GET, "--protocol", "http", "--file", "big", "--channels", 2, "--requests", 1)
        result = self.result(*asked, "--tls", server=self.front, status=1)
        self.assertEqual(self.errors(result), {"connect": 1})
        self.assertIn("certificate is not accepted", result["first_errors"]["connect"])
        self.assertEqual((result["tls"]["handshakes"], result["channels"]["lost"]), (0, 0))
