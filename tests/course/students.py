"""A class of made-up students: right, wrong in one way, cheating in one way, or hostile.

Each server is tests/course/perfect.py with one text changed, or a Makefile that does harm.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from course_path import ROOT

HERE = ROOT / "tests" / "course"

PERFECT = (HERE / "perfect.py").read_text(encoding="utf-8")
_ASKED = 'reply = ask(self.flags["--auth"], question)'
_ANSWER = 'self.connection.sendall(self.answer(line[: -line.endswith(b"\\r") or None]))'
_READY = '        print(f"READY {host}:{port}", flush=True)\n'
_THREAD = "threading.Thread(target=serve, args=(connection, flags), daemon=True).start()"
_FORK = """            if os.fork() == 0:
                serve(connection, flags)
                os._exit(0)
            connection.close()"""
# As sigaction() takes it: no handler, an empty mask, SA_NOCLDWAIT.
_NO_WAIT = 'import ctypes; ctypes.CDLL(None).sigaction(17, bytes(136) + b"\\x02" + bytes(15), None)'
_BOUND = "    with socket.create_server"


@dataclass(frozen=True)
class Fault:
    """old becomes new. case is the first one of the contract that tells; "" when only the load
    does, or a file.
    """

    old: str
    new: str
    case: str = ""

    @property
    def source(self) -> str:
        assert PERFECT.count(self.old) == 1, self.old
        return PERFECT.replace(self.old, self.new)


WRONG = {
    "no-ready-line": Fault(_READY, "", "ready"),
    "text-mode": Fault("return file.read()", 'return file.read().replace(b"\\0", b"")', "sizes"),
    "one-after-the-other": Fault(
        _THREAD,
        "serve(connection, flags)",
        "parallel",
    ),
    "no-fence": Fault(
        'if any(part in (b"", b".", b"..") for part in name.split(b"/")):\n        return None',
        "pass",
        "fence",
    ),
    "follows-links": Fault('not path.startswith(root + b"/") or ', "", "fence"),
    "opens-a-fifo": Fault(" or not stat.S_ISREG(os.stat(path).st_mode)", "", "folder"),
    "no-spaces": Fault('is_spaced = rest.startswith(b" ")', "is_spaced = False", "spelling"),
    "no-syntax": Fault("if not line or any(", "if any(", "syntax"),
    "no-invalid": Fault(
        "if not USER.fullmatch(user) or not 0 < len(password) <= 128:", "if not user:", "invalid"
    ),
    "never-too-long": Fault(
        "elif len(received) >= 512:", "elif len(received) >= 9999:", "too-long"
    ),
    "a-recv-is-a-line": Fault("received = rest\n", 'received = b""\n', "pieces"),
    "dies-without-authserver": Fault(
        "    except OSError:\n        return UNAVAILABLE",
        "    except OSError:\n        os._exit(3)",
        "unavailable",
    ),
    "ignores-sigterm": Fault("lambda *_: os._exit(0)", "signal.SIG_IGN", "stop"),
}
CHEATS = {
    "never-asks": Fault(_ASKED, 'reply = b"OK\\n"', "wrong-password"),
    "does-not-wait": Fault(
        _ASKED,
        "threading.Thread(target=ask, args=(self.flags['--auth'], question)).start()\n"
        '        reply = b"OK\\n"',
        "wrong-password",
    ),
    "remembers-who-came": Fault(
        _ASKED,
        "known = KNOWN.get(question)\n"
        "        reply = known or ask(self.flags['--auth'], question)\n"
        "        KNOWN[question] = reply",
        "taken-away",
    ),
    "asks-for-another": Fault(
        _ASKED, 'reply = ask(self.flags["--auth"], b"auth:ann:lemon")', "wrong-password"
    ),
    "serves-what-was-denied": Fault(
        "        if not self.is_granted:\n",
        "        if False:\n",
        "before",
    ),
    "from-a-table": Fault("return file.read()", 'return b"x" * os.path.getsize(path)', "file"),
    "keeps-the-grant": Fault(
        '        if verb == b"get:":\n            self.is_granted = False\n', "", "taken-away"
    ),
    "asks-only-at-first": Fault(
        _ASKED,
        "COUNT.append(1)\n"
        '        reply = b"OK\\n" if len(COUNT) > 100 else ask(self.flags["--auth"], question)',
    ),
    "right-bytes-only-at-first": Fault(
        "return file.read()",
        "COUNT.append(1)\n"
        '            return file.read() if len(COUNT) < 100 else b"x" * os.path.getsize(path)',
    ),
    "hides-its-cpu-time": Fault(
        _THREAD, f"signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n{_FORK}", "parallel"
    ),
    "waits-for-no-child": Fault(_THREAD, f"{_NO_WAIT}\n{_FORK}", "parallel"),
}
_STATE = "KNOWN = {}\nCOUNT = []\n"

HOSTILE = {
    "does-not-compile": "fileserver:\n\t@echo 'x.cpp:1: error: expected ;' >&2; false\n",
    "makes-nothing": "fileserver:\n\ttrue\n",
    "make-hangs": "fileserver:\n\tsleep 1000\n",
    "make-forks-without-end": "fileserver:\n\t:(){ :|:& };:; sleep 1000\nSHELL=/bin/bash\n",
    "make-fills-the-disk": "fileserver:\n\tcat /dev/zero >a; cat /dev/zero >/tmp/a; false\n",
    "make-reads-a-neighbour": "fileserver:\n\tcat ../../*/source/secret ../../../*/secret >$@\n",
    "make-kills-all": "fileserver:\n\tkill -9 -1; false\n",
}
# Right, but of another stage: a process for each connection, which is waited for.
PROCESSES = PERFECT.replace(
    _THREAD,
    """try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
"""
    + _FORK,
)
HARMFUL = {
    "forks-without-end": Fault(
        _BOUND,
        "    import time\n    try:\n        while True:\n"
        "            os.fork()\n    except OSError:\n"
        "        time.sleep(1000)\n" + _BOUND,
        "ready",
    ),
    "kills-all": Fault(_BOUND, "    os.kill(-1, 9)\n" + _BOUND, "ready"),
    "fills-memory": Fault(
        _READY, _READY + "        hog = [b'x' * (1 << 20) for _ in range(4000)]\n", "file"
    ),
    "takes-many-ports": Fault(
        _READY,
        _READY + '        more = [socket.create_server(("127.0.0.1", 0)) for _ in range(500)]\n',
        "",
    ),
    "says-without-end": Fault(
        _READY, _READY + '        while True: print("x" * 9999, flush=True)\n', "file"
    ),
}


def source_of(fault: Fault) -> str:
    return fault.source.replace('UNAVAILABLE = b"ERR', _STATE + 'UNAVAILABLE = b"ERR', 1)


def handed_in(folder: Path, source: str, stage: int = 2, **more: object) -> Path:
    """A submission in Python with this source."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "fileserver"
    program.write_text(source, encoding="utf-8")
    program.chmod(0o755)
    answers(folder, stage, **more)
    return folder


def with_makefile(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Makefile").write_text(text, encoding="utf-8")
    (folder / "secret").write_text("a neighbour's work", encoding="utf-8")
    answers(folder, 2)
    return folder


def answers(folder: Path, stage: int, **more: object) -> None:
    found = {"stage": stage, "language": "python", **more}
    (folder / "answers.json").write_text(json.dumps(found), encoding="utf-8")
