"""The contract tests: twenty cases of what is asked of a server, and one of each stage.

A case is a sentence of server.md, and a function that raises Wrong when the sentence does not hold.
All files have random bytes and names that no server can know.
"""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rig.errors import Failed
from rig.process_tree import tree
from rig.processes import Address, Program

from .peers import LIMIT_S, AuthServer, Client, Wrong

_READY_S = 10.0
_MOST_SILENT = 3  # cases in a row without an answer, behind which no further one is tried
_LARGE = 300_000
_QUIET_S = 0.15  # in which a server that does not wait would have answered
_LOOKS = 4
_SEEN_S = 2.0  # after which a changed file is served


@dataclass(frozen=True)
class Outcome:
    """Of a case. why is "" where the sentence holds."""

    name: str
    sentence: str
    why: str

    @property
    def holds(self) -> bool:
        return not self.why

    def __str__(self) -> str:
        return self.sentence if self.holds else f"{self.sentence} But {self.why}."


Start = Callable[[Sequence[str], Path], Program]  # of flags, and a folder that it may read


@dataclass
class Scene:
    """A server under test, what it serves, and whom it asks. Threads: one."""

    start: Start
    folder: Path
    auth: AuthServer
    files: dict[str, bytes] = field(default_factory=dict)
    program: Program | None = None
    _address: Address | None = None

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def prepare(self) -> None:
        inside, tag = self.root / "inside", secrets.token_hex(3)
        inside.mkdir(parents=True)
        sizes = {f"small-{tag}.txt": 1000, f"inside/{tag}": 77, f"none-{tag}": 0}
        for name, size in {**sizes, f"large-{tag}": _LARGE}.items():
            self.files[name] = secrets.token_bytes(size)
            (self.root / name).write_bytes(self.files[name])
        (self.folder / "secret").write_bytes(b"nobody may read this")
        (self.root / "link").symlink_to("../secret")
        (self.root / "absolute").symlink_to(self.folder / "secret")
        os.mkfifo(self.root / "fifo")
        self.auth.accounts["ann"] = "lemon"

    @property
    def small(self) -> str:
        return next(iter(self.files))

    def address(self) -> Address:
        """Of the server, which is started where it does not run. Wrong when it does not start."""
        if self.program and self._address and self.program.is_running():
            return self._address
        self.end()
        flags = ["--listen", "127.0.0.1:0", "--auth", str(self.auth.address)]
        self.program = self.start([*flags, "--root", str(self.root)], self.folder)
        try:
            self._address = self.program.wait_ready(_READY_S)
        except Failed as error:
            self.end()
            raise Wrong(f"no line READY HOST:PORT came: {str(error)[:200]}") from error
        return self._address

    def end(self) -> None:
        if self.program:
            self.program.kill()
        self.program = None

    def client(self, *lines: str) -> Client:
        return Client(self.address(), *lines)

    def granted(self) -> Client:
        """A connection of ann's. Wrong when she is not let in."""
        client = self.client("get:ann:lemon")
        try:
            _same(client.reply(), "OK", "the right password")
        except Wrong:
            client.__exit__()
            raise
        return client


def _same(found: str | bytes, wanted: str | bytes, what: str) -> None:
    if found == wanted:
        return
    if isinstance(found, bytes) and isinstance(wanted, bytes):
        raise Wrong(f"{what} came with other bytes ({len(found)} for {len(wanted)})")
    told = "the bytes of a file" if isinstance(found, bytes) else found
    should = "the bytes of the file" if isinstance(wanted, bytes) else wanted
    raise Wrong(f"{what} was answered with {told}, where {should} is right")


def _ready(scene: Scene) -> None:
    with scene.client():
        return


def _file(scene: Scene) -> None:
    with scene.granted() as client:
        _same(client.ask(scene.small), scene.files[scene.small], "a file")


def _sizes(scene: Scene) -> None:
    with scene.granted() as client:
        for name, content in scene.files.items():
            _same(client.ask(name), content, f"a file of {len(content)} bytes")


def _before(scene: Scene) -> None:
    with scene.client() as client:
        _same(client.ask(scene.small), "denied", "a file name before any get:")
        _same(client.ask("get:ann:lemon"), "OK", "the get: behind it")


def _wrong_password(scene: Scene) -> None:
    with scene.client() as client:
        _same(client.ask("get:ann:melon"), "denied", "a wrong password")
        _same(client.ask(scene.small), "denied", "a file name behind a wrong password")
        _same(client.ask("get:bob:lemon"), "denied", "a user that there is not")


def _taken_away(scene: Scene) -> None:
    with scene.granted() as client:
        _same(client.ask("get:ann:melon"), "denied", "a wrong password behind a right one")
        _same(client.ask(scene.small), "denied", "a file name behind the get: that was denied")
    with scene.granted() as client:
        _same(client.ask("get:ann"), "syntax", "a get: without a password behind a right one")
        _same(client.ask(scene.small), "denied", "a file name behind the get: that was none")
    scene.auth.accounts["eve"] = "plum"
    with scene.client() as client:
        _same(client.ask("get:eve:plum"), "OK", "the right password")
        del scene.auth.accounts["eve"]
        _same(client.ask("get:eve:plum"), "denied", "a get: of an account that was removed")
    with scene.client() as client:
        _same(client.ask("get:eve:plum"), "denied", "the same on another connection")


def _asks(scene: Scene) -> None:
    seen = len(scene.auth.questions)
    scene.auth.answers.clear()
    try:
        with scene.client("get:ann:lemon", scene.small) as client:
            if not client.is_silent(_QUIET_S):
                raise Wrong("something was sent before the authserver had answered")
            scene.auth.answers.set()
            _same(client.reply(), "OK", "the get:")
            _same(client.reply(), scene.files[scene.small], "the file")
            for _ in range(3):
                _same(client.ask("get:ann:lemon"), "OK", "a further get:")
    finally:
        scene.auth.answers.set()
    asked = [one for one in scene.auth.questions[seen:] if one != "ping"]
    if asked != ["auth:ann:lemon"] * 4:
        raise Wrong(f"four lines get:ann:lemon made it ask {', '.join(asked)[:120] or 'nothing'}")


def _new(scene: Scene) -> None:
    user = f"u{secrets.token_hex(4)}"
    with scene.client() as client:
        _same(client.ask(f"new:{user}:p"), "OK", "a new account")
        _same(client.ask(f"new:{user}:q"), "exists", "the same name once more")
        _same(client.ask(scene.small), "denied", "a file name behind new:")
        _same(client.ask(f"get:{user}:p"), "OK", "a get: of the new account")
    if scene.auth.accounts.get(user) != "p":
        raise Wrong("the authserver was not asked to make the account")


def _spelling(scene: Scene) -> None:
    scene.auth.accounts["col"] = "a:b c:"
    scene.auth.accounts["sp"] = " x"
    with scene.client() as client:
        _same(client.ask("get: ann: lemon"), "OK", "the form with spaces")
        _same(client.ask("get:ann:lemon\r"), "OK", "a CR before the end of the line")
        _same(client.ask("get:col:a:b c:"), "OK", "a password with colons")
        _same(client.ask("get:sp: x"), "OK", "a password that begins with a space")


def _not_found(scene: Scene) -> None:
    with scene.granted() as client:
        for name in ("no-such-file", "inside/no-such-file", "GET:ann:lemon"):
            _same(client.ask(name), "not-found", f"{name}")
        _same(client.ask(scene.small), scene.files[scene.small], "a file behind them")


def _fence(scene: Scene) -> None:
    names = ("../secret", "inside/../../secret", str(scene.folder / "secret"), "link", "absolute")
    with scene.granted() as client:
        for name in (*names, f"./{scene.small}", "inside//x"):
            shown = name if len(name) < 40 else "an absolute path"
            _same(client.ask(name), "not-found", shown)


def _folder(scene: Scene) -> None:
    with scene.granted() as client:
        for name in ("inside", "inside/", "fifo"):
            _same(client.ask(name), "not-found", name)


def _syntax(scene: Scene) -> None:
    with scene.client() as client:
        for line in ("", "get:ann", "new:ann", "get:a\x01n:lemon"):
            _same(client.ask(line), "syntax", f"the line {line!r}")
        _same(client.ask("get:ann:lemon"), "OK", "a get: behind them")


def _invalid(scene: Scene) -> None:
    with scene.client() as client:
        for line in ("get::lemon", "get:ann:", "get:a/b:x", f"new:{'a' * 65}:x", "new:a b:x"):
            _same(client.ask(line), "invalid", f"the line {line[:30]!r}")
        _same(client.ask(f"get:ann:{'x' * 129}"), "invalid", "a password of 129 bytes")


def _too_long(scene: Scene) -> None:
    with scene.client() as client:
        client.send("a" * 512)
        _same(client.reply(), "too-long", "512 bytes without the end of a line")
        if not client.has_ended():
            raise Wrong("the connection stayed open")


def _pieces(scene: Scene) -> None:
    wanted = ("OK", scene.files[scene.small], "not-found", "OK")
    text = f"get:ann:lemon\n{scene.small}\nno-such-file\nget:ann:lemon\n"
    with scene.client() as client:
        client.send(text)
        for one in wanted:
            _same(client.reply(), one, "one of four lines that came in one piece")
    with scene.client() as client:
        for byte in text.encode():
            client.send(bytes([byte]))
            time.sleep(0.0005)
        for one in wanted:
            _same(client.reply(), one, "one of four lines that came byte by byte")


def _half_closed(scene: Scene) -> None:
    with scene.client("get:ann:lemon", scene.small) as client:
        client.send(scene.small)  # without its end
        client.say_no_more()
        _same(client.reply(), "OK", "the get: of a client that sends no more")
        _same(client.reply(), scene.files[scene.small], "its file")
        if not client.has_ended():
            raise Wrong("the last line, which had no end, was answered or kept open")


def _parallel(scene: Scene) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(scene.granted()).send("small-")
        _file(scene)
        _require_counted(scene)


def _require_counted(scene: Scene) -> None:
    """The kernel adds the CPU time of a child to its parent's when that waits for it."""
    assert scene.program
    for pid in tree(scene.program.pid):
        ignored = _of_process(pid, "status").partition("SigIgn:")[2].split()
        if ignored and int(ignored[0], 16) >> (signal.SIGCHLD - 1) & 1 and tree(pid)[1:]:
            raise Wrong("it ignores SIGCHLD, so the CPU time of its children is counted nowhere")


def _of_process(pid: int, name: str) -> str:
    """A file of its in /proc; "" when it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _unavailable(scene: Scene) -> None:
    with scene.granted() as client:
        scene.auth.go_away()
        try:
            _same(client.ask("ping"), "unavailable", "a ping while there is no authserver")
            _same(client.ask("get:ann:lemon"), "unavailable", "a get: while there is none")
            _same(client.ask(scene.small), "denied", "a file name behind it")
        finally:
            scene.auth.come_back()
        _same(client.ask("ping"), "OK", "a ping when it is back")
        _same(client.ask("get:ann:lemon"), "OK", "a get: when it is back")


def _stop(scene: Scene) -> None:
    scene.address()
    assert scene.program
    with scene.granted():
        started = tree(scene.program.pid)
        scene.program.signal(signal.SIGTERM)
        try:
            status = scene.program.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Wrong(f"it still ran {LIMIT_S:.0f} s after SIGTERM") from None
    if status:
        raise Wrong(f"it ended with status {status}")
    deadline = time.monotonic() + LIMIT_S
    while any(tree(pid) for pid in started):
        if time.monotonic() > deadline:
            raise Wrong("it left a process behind")
        time.sleep(0.01)


@dataclass(frozen=True)
class Case:
    name: str
    sentence: str
    run: Callable[[Scene], None]


CASES = (
    Case("ready", "It prints READY HOST:PORT, and takes connections there.", _ready),
    Case("file", "After get:USER:PASSWORD, a file name is answered with OK SIZE and bytes.", _file),
    Case("sizes", "Every byte of a file comes: of an empty one, a small one, a large one.", _sizes),
    Case("before", "A file name before a granted get: is denied.", _before),
    Case("wrong-password", "A wrong password, and who is unknown, is denied.", _wrong_password),
    Case("taken-away", "A get: that is denied takes the grant away.", _taken_away),
    Case("asks", "It asks the authserver for every get:, and waits for the answer.", _asks),
    Case("new", "new:USER:PASSWORD makes an account; a name that is taken is exists.", _new),
    Case("spelling", "get: USER: PASSWORD, CR LF, and colons in a password work.", _spelling),
    Case(
        "not-found", "A file that is not there is not-found, and the connection stays.", _not_found
    ),
    Case("fence", "No path and no link leads out of the served folder.", _fence),
    Case("folder", "A folder and a FIFO are not-found, at once.", _folder),
    Case("syntax", "An empty line, a missing colon and a control byte are syntax.", _syntax),
    Case("invalid", "A user or password that is not acceptable is invalid.", _invalid),
    Case("too-long", "512 bytes without the end of a line are too-long; it closes.", _too_long),
    Case("pieces", "Lines may come together or in pieces; each has one reply.", _pieces),
    Case("half-closed", "A client that sends no more gets all its replies.", _half_closed),
    Case(
        "parallel", "A silent client keeps nobody waiting, and children are waited for.", _parallel
    ),
    Case(
        "unavailable", "Without its authserver it answers unavailable, and goes on.", _unavailable
    ),
    Case("stop", "On SIGTERM it ends with status 0, and nothing of it is left.", _stop),
)


def _counts(scene: Scene) -> tuple[int, int]:
    """Its processes and its threads."""
    assert scene.program
    found = tree(scene.program.pid)
    threads = [_of_process(pid, "status").partition("Threads:")[2].split() for pid in found]
    return len(found), sum(int(one[0]) for one in threads if one)


def _require_added(scene: Scene, is_right: Callable[[int, int], bool]) -> None:
    """Of the processes that three connections add, and the threads that serve them.

    Those of connections that were closed before may still end, so it looks several times.
    """
    scene.address()
    for _ in range(_LOOKS):
        before = _counts(scene)
        with ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(scene.granted())
            during = _counts(scene)
        spare = before[1] - before[0]  # threads that waited for connections
        added, threads = during[0] - before[0], max(during[1] - before[1], spare)
        if is_right(added, threads):
            return
        time.sleep(_QUIET_S)
    raise Wrong(f"three connections added {added} processes, and {threads} threads served them")


def _processes(scene: Scene) -> None:
    _require_added(scene, lambda added, _: added >= 3)


def _threads(scene: Scene) -> None:
    _require_added(scene, lambda added, threads: added == 0 and threads >= 3)


def _memory(scene: Scene) -> None:
    with scene.granted() as client:
        large = max(scene.files, key=lambda name: len(scene.files[name]))
        client.ask(large)
        before = _read_bytes(scene)
        for _ in range(4):
            _same(client.ask(large), scene.files[large], "a file")
        if _read_bytes(scene) - before > len(scene.files[large]):
            raise Wrong("it read the file again for each request")
        changed = secrets.token_bytes(500)
        draft = scene.folder / "draft"
        draft.write_bytes(changed)
        draft.rename(scene.root / scene.small)
        scene.files[scene.small] = changed
        deadline = time.monotonic() + _SEEN_S + LIMIT_S
        while client.ask(scene.small) != changed:
            if time.monotonic() > deadline:
                raise Wrong("a file that was replaced was still the old one")
            time.sleep(0.1)


def _read_bytes(scene: Scene) -> int:
    assert scene.program
    found = 0
    for pid in tree(scene.program.pid):
        found += sum(map(int, _of_process(pid, "io").partition("rchar: ")[2].split()[:1]))
    return found


def _kept(scene: Scene) -> None:
    before = scene.auth.connections
    for _ in range(10):
        _file(scene)
    if (made := scene.auth.connections - before) > 2:
        raise Wrong(f"ten requests made {made} connections to the authserver")


def _kept_and_memory(scene: Scene) -> None:
    _kept(scene)
    _memory(scene)


SHAPES: dict[int, Case] = {
    1: Case("stage-1", "Each connection has a process of its own.", _processes),
    2: Case("stage-2", "Each connection has a thread, and none a process.", _threads),
    3: Case("stage-3", "Files come from memory, and a changed one within two seconds.", _memory),
    4: Case(
        "stage-4",
        "As stage 3, and connections to the authserver are kept.",
        _kept_and_memory,
    ),
    5: Case("stage-5", "The idea is your own: any shape will do.", _file),
}


def run(start: Start, folder: Path, cases: Sequence[Case]) -> list[Outcome]:
    """All cases, one after the other, on a server that is started again where it has ended."""
    found: list[Outcome] = []
    silent = 0
    with _scene(start, folder) as scene:
        for case in cases:
            why = "it did not answer before" if silent >= _MOST_SILENT else _tried(scene, case)
            silent = silent + 1 if "came within" in why or "no line READY" in why else 0
            if why == "it did not answer before":
                silent = _MOST_SILENT
            found.append(Outcome(case.name, case.sentence, why))
    return found


def _tried(scene: Scene, case: Case) -> str:
    """Why it does not hold. The next case has a new server then, because this one may be ending."""
    why = _why(scene, case)
    if why:
        scene.end()
    return why


def _why(scene: Scene, case: Case) -> str:
    try:
        case.run(scene)
    except Wrong as wrong:
        return str(wrong)
    except (OSError, AssertionError) as error:
        return f"the server ended or could not be watched ({error})"
    return ""


@contextmanager
def _scene(start: Start, folder: Path) -> Iterator[Scene]:
    with AuthServer() as auth:
        scene = Scene(start, folder, auth)
        scene.prepare()
        try:
            yield scene
        finally:
            scene.end()
