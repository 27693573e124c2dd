"""`lab run 000-table1 --hold` for real: the server is held while all ask."""

from pathlib import Path

import examples
from bursts_scene import BurstsScene
from real_lab import BUILD, table

_LEAVES_IT_FROZEN = """#!/bin/bash
"LOADGEN" "$@"
status=$?
while [[ $# -gt 0 && $1 != --hold ]]; do shift; done
if [[ $# -gt 0 ]]; then
  if [[ -e $2/cgroup.freeze ]]; then echo 1 >"$2/cgroup.freeze"
  else echo FROZEN >"$2/freezer.state"
  fi
fi
exit $status
"""


class HeldBurstsTest(BurstsScene):
    def test_the_server_may_be_held_while_all_ask(self) -> None:
        """And is let go, should loadgen end before it has done so."""
        held = ["--hold", "freeze", "--programs", str(self.programs_that_leave_it_frozen())]
        folder = self.run_lab("--threads", "4", "--stages", "ours-same", *held)
        (row,) = table(folder / "out" / "points.csv")[-1:]
        self.assertEqual((row["requests"], float(row["release_spread_ms"])), ("4", 0))
        report = (folder / "out" / "report.html").read_text(encoding="utf-8")
        self.assertIn("was frozen while all transfers were asked for", report)

    def programs_that_leave_it_frozen(self) -> Path:
        folder = examples.folder(self)
        for name in ("fileserver", "authserver"):
            (folder / name).symlink_to(BUILD / name)
        script = folder / "loadgen"
        script.write_text(_LEAVES_IT_FROZEN.replace("LOADGEN", str(BUILD / "loadgen")))
        script.chmod(0o755)
        return folder
