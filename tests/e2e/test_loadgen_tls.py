"""loadgen --tls: the native protocol and HTTP, encrypted."""

import unittest

import server_pairs
from loadgen_scene import GET, LoadgenScene
from programs import run
from scene import for_each

PROTOCOLS = ("tls", "https")  # as READY names them
RUN = (*GET, "--file", "file3", "--threads", 2, "--requests", 10)


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class LoadgenTlsTest(LoadgenScene):
    def serve_tls(self, model: str, host: str = "127.0.0.1") -> None:
        pair = server_pairs.shared()
        self.authority = ("--tls-ca", str(pair.certificate))
        listen = ("--tls-listen", f"{host}:0", *server_pairs.https_flags())
        self.serve("--model", model, *listen)

    def over(self, protocol: str) -> tuple[str, ...]:
        return ("--tls", *(("--protocol", "http") if protocol == "https" else ()))

    def address(self, protocol: str, host: str = "localhost") -> str:
        return f"{host}:{self.fileserver.further_address(protocol)[1]}"

    @for_each(("thread", "event"))
    def test_files_come_whole_and_connections_resume(self, model: str) -> None:
        self.serve_tls(model)
        verify = ("--verify", "--verify-root", str(self.scene.root))
        for protocol in PROTOCOLS:
            server = self.address(protocol)
            for flags, handshakes, resumed in (
                ((), 20, 18),
                (("--tls-resume", "off"), 20, 0),
                (("--connection", "keep-alive"), 2, 0),
                (("--rate", 100, "--seconds", 0.3), None, None),
            ):
                with self.subTest(protocol, flags=flags):
                    how = RUN[:-2] if "--rate" in flags else RUN
                    asked = (*how, *self.over(protocol), *self.authority, *verify, *flags)
                    result = self.result(*asked, server=server)
                    self.assertEqual(self.errors(result), {})
                    self.assertEqual(result["bytes"], 3000 * result["requests"])
                    tls = result["tls"]
                    self.assertEqual(tls["handshakes"], result["connections"])
                    if handshakes is not None:
                        # Threads of a closed loop go on until all are done.
                        self.assertGreaterEqual(tls["handshakes"], handshakes)
                        resumable = tls["handshakes"] - 2 if resumed else 0
                        self.assertEqual(tls["resumed"], resumable)
                    self.assertGreater(tls["handshake_ms"]["mean"], 0)
        self.assertNotIn("tls", self.result(*RUN))

    def test_lines_and_large_files_and_accounts_and_bursts(self) -> None:
        self.serve_tls("event")
        self.scene.write("large", bytes(range(256)) * 20_000)
        server = self.address("tls", "127.0.0.1")
        tls = ("--tls", *self.authority)
        for flags in (
            (*GET, "--file", "large", "--requests", 3, "--threads", 2),
            (*GET, "--file", "large", "--requests", 3, "--pipeline", "--connection", "keep-alive"),
            (*GET, "--file", "file2", "--requests", 3, "--threads", 3, "--release", "transfer"),
            ("new", "--requests", 4, "--threads", 2, "--connection", "keep-alive"),
        ):
            with self.subTest(flags):
                result = self.result(*flags, *tls, server=server)
                self.assertEqual(self.errors(result), {})
                self.assertEqual(result["reconnects"], 0)
        self.assertEqual(result["requests"], 8)
        http = ("--protocol", "http", "--connection", "keep-alive", *tls)
        result = self.result("new", "--requests", 3, *http, server=self.address("https"))
        self.assertEqual((self.errors(result), result["reconnects"]), ({}, 0))

    def test_who_cannot_prove_who_he_is_gets_no_password(self) -> None:
        self.serve_tls("thread")
        server, asked = self.address("tls"), (*RUN, "--tls")
        other = server_pairs.make(self.scene.folder, "other")
        for flags, address, why in (
            ((), server, "certificate is not accepted"),
            (("--tls-ca", str(other.certificate)), server, "certificate is not accepted"),
            (self.authority, str(self.fileserver.address), "does not speak TLS"),
        ):
            with self.subTest(flags, address=address):
                result = self.result(*asked, *flags, server=address, status=1)
                self.assertEqual(set(self.errors(result)), {"connect"})
                self.assertIn(why, result["first_errors"]["connect"])
                self.assertEqual(result["tls"]["handshakes"], 0)
        result = self.result(*asked, "--tls-insecure", server=server)
        self.assertEqual(self.errors(result), {})
        self.serve_tls("thread", "127.0.0.2")  # which is not in the certificate
        server = self.address("tls", "127.0.0.2")
        result = self.result(*asked, *self.authority, server=server, status=1)
        self.assertEqual(set(self.errors(result)), {"connect"})
        self.assertIn("certificate is not accepted", result["first_errors"]["connect"])

    def test_what_cannot_be_encrypted_is_wrong_usage(self) -> None:
        for flags, why in (
            (("--tls", "--users", "2"), "without put, --users and --channels"),
            (("--tls", "--users", "2", "--pace", "100"), "a closed loop"),
            (("--tls", "--protocol", "ftp"), "--protocol native or --protocol http"),
            (("--tls", "--protocol", "http", "--channels", "2"), "without put"),
            (("--tls-ca", "a.pem"), "needs --tls"),
            (("--tls-insecure",), "needs --tls"),
            (("--tls-resume", "off"), "needs --tls"),
            (("--tls", "--tls-insecure", "--tls-ca", "a.pem"), "exclude each other"),
            (("--tls", "--server", "unix:/run/none"), "a server with a port"),
        ):
            with self.subTest(flags):
                ended = run("loadgen", *GET, "--file", "a", *flags)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(why, ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1)
        put = ("put", "--protocol", "http", "--user", "a", "--password", "b", "--size", "1")
        self.assertEqual(run("loadgen", *put, "--tls").returncode, 2)
        missing = run("loadgen", *GET, "--file", "a", "--tls", "--tls-ca", "/no/such.pem")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/no/such.pem", missing.stderr)


if __name__ == "__main__":
    unittest.main()
