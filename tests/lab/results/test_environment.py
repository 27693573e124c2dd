"""environment.json: what is written is read back, and what other versions wrote is understood."""

import json
import unittest
from dataclasses import asdict, replace

import examples

from lab.observe.callgrind import Profile, Share
from lab.plan import catalog
from lab.results.environment import Environment
from lab.results.records import Folder
from rig.errors import Failed
from rig.iperf3 import Carried


class EnvironmentTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(examples.folder(self))

    def read(self, **changes) -> Environment:
        """The example with these keys of its JSON changed, or removed if None."""
        record = {**asdict(examples.ENVIRONMENT), **changes}
        text = json.dumps({name: value for name, value in record.items() if value is not None})
        (self.folder.path / "environment.json").write_text(text, encoding="utf-8")
        return self.folder.environment()

    def test_it_comes_back_as_it_was(self):
        environment = replace(
            examples.ENVIRONMENT,
            problems={"ph2, new": "no MySQL"},
            network_probe=Carried(interval_s=2.0, bytes=10**9),
            profile=Profile(
                command="valgrind",
                requests=3,
                row="1MB",
                stage="ph2",
                functions=(Share("read", 0.5),),
                with_callees=(),
            ),
        )
        self.folder.write_environment(environment)
        self.assertEqual(self.folder.environment(), environment)

    def test_what_an_older_version_did_not_record_is_empty(self):
        older = self.read(host=None, stacks=None, pinning=None, problems=None, network_probe=None)
        self.assertEqual(
            (older.host.kernel, older.stacks, older.pinning, older.problems), ("", {}, "", {})
        )
        self.assertIsNone(older.network_probe)

    def test_what_a_newer_version_records_is_passed_over(self):
        host = {**asdict(examples.ENVIRONMENT.host), "colour": "red"}
        self.assertEqual(self.read(colour="red", host=host), examples.ENVIRONMENT)

    def test_without_its_settings_a_folder_tells_nothing(self):
        for name in ("options", "mode", "cores"):
            with self.assertRaisesRegex(Failed, f"environment.json has no '{name}'"):
                self.read(**{name: None})

    def test_a_folder_without_it_is_none_of_the_lab(self):
        self.assertIsNone(self.folder.find_environment())
        with self.assertRaisesRegex(Failed, "not a results folder"):
            self.folder.environment()

    def test_settings_that_differ_are_named(self):
        same = self.read()
        self.assertEqual(same.other_settings(examples.ENVIRONMENT), [])
        stage = replace(catalog.stages()["redis"], loadgen=("--pipeline",))
        other = replace(same, cores=(0,), stages={**same.stages, "redis": stage}, pinning="other")
        self.assertEqual(same.other_settings(other), ["cores", "stages"])
