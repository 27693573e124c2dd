"""Tests of the variables that change docker-compose.yml."""

import json
import re
import unittest
from pathlib import Path

from engine import PROJECT, System

PASSWORD = 'my "own" \\ password\n'
PRESETS = sorted((PROJECT / "docker").glob("cores-*.env"))
STORES = sorted(path.stem for path in (PROJECT / "docker/store").glob("*.yml"))


class Choices(unittest.TestCase):
    def test_sqlite_the_process_model_files_from_disk_and_a_pinned_fileserver(self) -> None:
        system = System(STORE="sqlite", MODEL="process", FILES="disk", FILESERVER_CPUS="0")
        self.addCleanup(system.remove)
        system.up()
        self.assertEqual(system.running(), {"network", "fileserver", "authserver"})
        self.assertEqual(system.ask("new:alice:wonderland"), "OK")
        account = ["--user", "alice", "--password", "wonderland"]
        amount = ["--threads", "2", "--requests", "50"]
        result = system.load("get", *account, "--file", "1KB1.txt", *amount, "--verify")
        self.assertEqual(result["errors"]["total"], 0)
        # Process 1 is the container's init. The container's cores hold for all its processes.
        status = system.inside("fileserver", "cat /proc/1/status")
        self.assertRegex(status, r"Cpus_allowed_list:\s+0\n")
        self.assertNotIn("prefetched", system.log("fileserver"))

    def test_a_password_of_the_user_is_taken_instead_of_a_random_one(self) -> None:
        system = System(STORE="redis")
        self.addCleanup(system.remove)
        Path(system.own_secrets.name, "store-password").write_text(PASSWORD, encoding="ascii")
        system.up()
        self.assertEqual(system.inside("authserver", "cat /run/secrets/store-password"), PASSWORD)
        self.assertEqual(system.ask("new:alice:wonderland"), "OK")

    def test_files_can_be_made_before_there_is_a_fileserver(self) -> None:
        system = System()
        self.addCleanup(system.remove)
        made = ["files", "--size", "1KB", "--count", "3"]
        system.compose("run", "--rm", "--no-deps", "-T", *made)
        listed = ["--entrypoint", "ls", "files", "/srv/files"]
        names = system.compose("run", "--rm", "--no-deps", "-T", *listed).split()
        self.assertEqual(names, ["1KB1.txt", "1KB2.txt", "1KB3.txt"])

    def test_the_files_can_be_written_only_where_uploads_change_them(self) -> None:
        for uploads, is_read_only in (("", True), ("off", True), ("sink", True), ("folder", False)):
            with self.subTest(uploads):
                system = System(UPLOADS=uploads)
                self.addCleanup(system.own_secrets.cleanup)
                shown = json.loads(system.compose("config", "--format", "json"))
                mounts = shown["services"]["fileserver"]["volumes"]
                told = [(one["target"], one.get("read_only", False)) for one in mounts]
                self.assertEqual(told, [("/srv/files", is_read_only)])

    def test_every_variable_is_documented(self) -> None:
        files = [PROJECT / "docker-compose.yml", *(PROJECT / "docker").rglob("*.yml")]
        text = "".join(path.read_text(encoding="utf-8") for path in files)
        used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", text)) - {"COMPOSE_PROJECT_NAME"}
        example = (PROJECT / ".env.example").read_text(encoding="utf-8")
        self.assertEqual(used, set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)))

    def test_each_store_starts_its_own_server_and_no_other(self) -> None:
        self.assertEqual(STORES, ["mysql", "redis", "sqlite"])
        for store in STORES:
            system = System(STORE=store)
            self.addCleanup(system.own_secrets.cleanup)
            started = set(system.compose("config", "--services").split())
            expected = set() if store == "sqlite" else {store}
            self.assertEqual(started & set(STORES), expected)
            known = set(system.compose("--profile", "*", "config", "--services").split())
            self.assertEqual(known & set(STORES), {"mysql", "redis"}, "for `down` to remove")

    def test_each_preset_pins_every_service(self) -> None:
        self.assertGreater(len(PRESETS), 0)
        for preset in PRESETS:
            text = preset.read_text(encoding="utf-8")
            pinned = dict(re.findall(r"^([A-Z]+)_CPUS=([0-9,-]+)$", text, re.MULTILINE))
            self.assertEqual(set(pinned), {"FILESERVER", "AUTHSERVER", "STORE", "LOADGEN"}, preset)
            system = System()
            self.addCleanup(system.own_secrets.cleanup)
            shown = system.compose("--env-file", str(preset), "--profile", "load", "config")
            unquoted = shown.replace('"', "").replace("'", "")
            self.assertIn(f"cpuset: {pinned['FILESERVER']}", unquoted)
