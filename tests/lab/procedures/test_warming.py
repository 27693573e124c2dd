"""What a cold load starts is in memory before: its own programs are not to come from the disk."""

import unittest
from unittest import mock

import examples

from lab.procedures import stand
from rig.errors import Failed
from rig.servers import Programs


class WarmingTest(unittest.TestCase):
    def setUp(self) -> None:
        patched = mock.patch.object(stand, "run_tool")
        self.run_tool = patched.start()
        self.addCleanup(patched.stop)
        self.programs = Programs(examples.folder(self))

    def started(self) -> list[str]:
        return [call.args[0][0].rpartition("/")[2] for call in self.run_tool.call_args_list]

    def test_without_a_client_it_is_loadgen(self) -> None:
        stand.warm(self.programs, None)
        self.assertEqual(self.started(), ["loadgen"])

    def test_with_one_it_is_the_client_too_and_what_runs_beside_it(self) -> None:
        client = mock.Mock()
        version = mock.PropertyMock(return_value="1.0")
        type(client).version = version
        stand.warm(self.programs, client)
        version.assert_called_once()
        self.assertLessEqual({"loadgen", "nsenter", "setpriv", "ss"}, set(self.started()))

    def test_a_tool_that_is_not_there_is_no_failure(self) -> None:
        self.run_tool.side_effect = ["", *[Failed("no such tool")] * 4]
        stand.warm(self.programs, mock.Mock())
        self.assertEqual(self.run_tool.call_count, 5)
