"""A child process, of which the kernel tells the CPU time when it has ended."""

import os
import subprocess
import time
from contextlib import suppress
from threading import Lock

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.0005, 0.05
_REAPING = Lock()  # the end of a child is told only once


class Child(subprocess.Popen[bytes]):
    """As Popen, which throws away what the kernel says of the resources that a child used.

    Threads: any may call poll() and wait().
    """

    _used_s: float | None = None

    @property
    def used_s(self) -> float | None:
        """The CPU time of it and of all that it started and waited for. It is exact, unlike what
        samples say. None until poll() or wait() has seen its end.
        """
        return self._used_s

    def poll(self) -> int | None:
        with _REAPING:
            if self.returncode is None:
                pid, status, used = os.wait4(self.pid, os.WNOHANG)
                if pid:
                    self._used_s = used.ru_utime + used.ru_stime
                    self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            with suppress(ChildProcessError):  # another thread has seen its end
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        deadline, pause_s = time.monotonic() + (timeout or 0.0), _FIRST_PAUSE_S
        while (status := self.poll()) is None:
            if (left_s := deadline - time.monotonic()) <= 0:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            time.sleep(min(pause_s, left_s))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return status
