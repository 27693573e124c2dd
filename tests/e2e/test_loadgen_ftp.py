"""loadgen --protocol ftp: what it sends, and what it tells. tests/lab has real servers."""

from ftp_peer import FILE, FtpPeer, Script
from loadgen_scene import GET, LoadgenScene
from programs import run

FTP_GET = (*GET, "--protocol", "ftp", "--file", "a")
FTP_PUT = ("put", *GET[1:], "--protocol", "ftp")


class LoadgenFtpTest(LoadgenScene):
    def peer(self, **replies: bytes) -> FtpPeer:
        return self.scene.keep(FtpPeer(Script(replies=replies)))

    def test_a_connection_logs_in_once(self) -> None:
        for connection, log_ins, ends in (("per-request", 6, {"QUIT": 6}), ("keep-alive", 2, {})):
            peer = self.peer()
            flags = ("--connection", connection, "--requests", 3, "--threads", 2)
            result = self.result(*FTP_GET, *flags, server=peer)
            self.assertEqual((result["requests"], result["bytes"]), (6, 6 * len(FILE)))
            expected = dict.fromkeys(("USER", "PASS", "TYPE"), log_ins) | {"EPSV": 6, "RETR": 6}
            expected |= {"SIZE": 2, **ends}  # each thread asks once
            verbs = peer.verbs()
            self.assertEqual({verb: verbs.count(verb) for verb in set(verbs)}, expected)
            for command in ("USER alice", "PASS wonderland", "TYPE I", "RETR a"):
                self.assertIn(command, peer.commands)

    def test_the_phases_follow_each_other(self) -> None:
        phases = self.result(*FTP_GET, "--requests", 2, server=self.peer())["phases_ms"]
        names = ["connect", "logged_in", "data_connect", "first_byte", "data_end", "last_byte"]
        self.assertEqual(list(phases), names)
        self.assertEqual(sorted(phases.values()), list(phases.values()))

    def test_pasv_is_used_if_it_is_asked_for_or_if_epsv_is_not_known(self) -> None:
        for flags, replies, asked in (
            (("--ftp-data", "pasv"), {}, ["PASV"]),
            ((), {"EPSV": b"500 what?\r\n"}, ["EPSV", "PASV"]),
        ):
            peer = self.peer(**replies)
            self.result(*FTP_GET, *flags, "--requests", 1, server=peer)
            self.assertEqual([verb for verb in peer.verbs() if verb.endswith("SV")], asked)

    def test_what_ftp_has_not_is_wrong_usage(self) -> None:
        for arguments, named in (
            (("new", *FTP_GET[1:5], "--protocol", "ftp"), "new needs"),
            (("put", *FTP_GET[1:5], "--size", "1"), "put needs --protocol http or ftp"),
            (("put", *FTP_GET[1:5], "--protocol", "ftp"), "put needs --size"),
            ((*FTP_GET, "--pipeline"), "--pipeline"),
            ((*FTP_GET, "--server", "unix:/run/x"), "with a port"),
        ):
            with self.subTest(named=named):
                ended = run("loadgen", *arguments)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(named, ended.stderr)

    def test_a_put_sends_files_under_names_of_its_own(self) -> None:
        for connection, log_ins in (("per-request", 6), ("keep-alive", 2)):
            peer = self.peer()
            flags = ("--size", 100_000, "--connection", connection, "--requests", 3)
            result = self.result(*FTP_PUT, *flags, "--threads", 2, server=peer)
            self.assertEqual((result["requests"], result["bytes"]), (6, 600_000))
            self.assertEqual(peer.verbs().count("USER"), log_ins)
            self.assertNotIn("SIZE", peer.verbs())
            self.assertEqual([len(file) for file in peer.files.values()], [100_000] * 6)
            self.assertEqual(len(set(peer.files.values())), 1)

    def test_all_puts_go_to_the_name_that_is_given(self) -> None:
        for name, files in (("/dev/null", ["/dev/null"]), ("up%d", ["up1", "up2"])):
            peer = self.peer()
            flags = ("--file", name, "--size", 1000, "--requests", 3, "--threads", 2)
            result = self.result(*FTP_PUT, *flags, server=peer)
            self.assertEqual((result["requests"], result["bytes"]), (6, 6000))
            self.assertEqual(sorted(peer.files), files)
            self.assertEqual(peer.verbs().count("STOR"), 6)
            self.assertLessEqual(
                set(peer.verbs()), {"USER", "PASS", "TYPE", "EPSV", "STOR", "QUIT"}
            )

    def test_a_mix_gets_and_puts_on_one_connection(self) -> None:
        for connection, log_ins in (("per-request", 20), ("keep-alive", 1)):
            peer = self.peer()
            flags = ("--mix", "get:1,put:1", "--size", 5_000, "--connection", connection)
            result = self.result(*FTP_GET, *flags, "--requests", 20, server=peer)
            kinds = {kind: part["requests"] for kind, part in result["kinds"].items()}
            verbs = peer.verbs()
            self.assertEqual(verbs.count("USER"), log_ins)
            self.assertNotIn("a", peer.files)
            self.assertEqual(kinds, {"get": verbs.count("RETR"), "put": verbs.count("STOR")})
            self.assertGreater(min(kinds.values()), 0)
            self.assertEqual(result["kinds"]["get"]["bytes"], kinds["get"] * len(FILE))
            self.assertEqual(result["kinds"]["put"]["bytes"], kinds["put"] * 5_000)

    def test_a_put_that_is_refused_or_cut_is_an_error(self) -> None:
        for script, cause, why in (
            (Script(replies={"STOR": b"553 no\r\n"}), "protocol", "553 no"),
            (Script(replies={"STOR": b"550 no\r\n"}), "not-found", "550 no"),
            (Script(replies={"DONE": b"452 full\r\n"}, takes=1), "protocol", "452 full"),
            (Script(replies={"DONE": None}), "closed", "the server closed the connection"),
            (Script(takes=1), "protocol", "before it had the whole file"),
        ):
            with self.subTest(why=why):
                peer = self.scene.keep(FtpPeer(script))
                flags = ("--size", 50_000_000, "--requests", 1)
                result = self.result(*FTP_PUT, *flags, server=peer, status=1)
                self.assertEqual(self.errors(result), {cause: 1})
                self.assertIn(why, result["first_errors"][cause])
