"""The contract tests: twenty cases of what is asked of a server. shapes.py has one of each stage.

A case is a sentence of server.md, and a function that raises Wrong when the sentence does not hold.
"""

import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig.process_tree import tree

from .counted import require_counted
from .peers import LIMIT_S, AuthServer, Wrong
from .scene import Scene, Start, same

_MOST_SILENT = 3  # cases in a row without an answer, behind which no further one is tried
QUIET_S = 0.15  # in which a server that does not wait would have answered


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


@dataclass(frozen=True)
class Case:
    name: str
    sentence: str
    run: Callable[[Scene], None]


def _ready(scene: Scene) -> None:
    with scene.client():
        return


def file_comes(scene: Scene) -> None:
    with scene.granted() as client:
        same(client.ask(scene.small), scene.files[scene.small], "a file")


def _sizes(scene: Scene) -> None:
    with scene.granted() as client:
        for name, content in scene.files.items():
            same(client.ask(name), content, f"a file of {len(content)} bytes")


def _before(scene: Scene) -> None:
    with scene.client() as client:
        same(client.ask(scene.small), "denied", "a file name before any get:")
        same(client.ask("get:ann:lemon"), "OK", "the get: behind it")


def _wrong_password(scene: Scene) -> None:
    with scene.client() as client:
        same(client.ask("get:ann:melon"), "denied", "a wrong password")
        same(client.ask(scene.small), "denied", "a file name behind a wrong password")
        same(client.ask("get:bob:lemon"), "denied", "a user that there is not")


def _taken_away(scene: Scene) -> None:
    with scene.granted() as client:
        same(client.ask("get:ann:melon"), "denied", "a wrong password behind a right one")
        same(client.ask(scene.small), "denied", "a file name behind the get: that was denied")
    with scene.granted() as client:
        same(client.ask("get:ann"), "syntax", "a get: without a password behind a right one")
        same(client.ask(scene.small), "denied", "a file name behind the get: that was none")
    scene.auth.accounts["eve"] = "plum"
    with scene.client() as client:
        same(client.ask("get:eve:plum"), "OK", "the right password")
        del scene.auth.accounts["eve"]
        same(client.ask("get:eve:plum"), "denied", "a get: of an account that was removed")
    with scene.client() as client:
        same(client.ask("get:eve:plum"), "denied", "the same on another connection")


def _asks(scene: Scene) -> None:
    seen = len(scene.auth.questions)
    scene.auth.answers.clear()
    try:
        with scene.client("get:ann:lemon", scene.small) as client:
            if not client.is_silent(QUIET_S):
                raise Wrong("something was sent before the authserver had answered")
            scene.auth.answers.set()
            same(client.reply(), "OK", "the get:")
            same(client.reply(), scene.files[scene.small], "the file")
            for _ in range(3):
                same(client.ask("get:ann:lemon"), "OK", "a further get:")
    finally:
        scene.auth.answers.set()
    asked = [one for one in scene.auth.questions[seen:] if one != "ping"]
    if asked != ["auth:ann:lemon"] * 4:
        raise Wrong(f"four lines get:ann:lemon made it ask {', '.join(asked)[:120] or 'nothing'}")


def _new(scene: Scene) -> None:
    user = f"u{secrets.token_hex(4)}"
    with scene.client() as client:
        same(client.ask(f"new:{user}:p"), "OK", "a new account")
        same(client.ask(f"new:{user}:q"), "exists", "the same name once more")
        same(client.ask(scene.small), "denied", "a file name behind new:")
        same(client.ask(f"get:{user}:p"), "OK", "a get: of the new account")
    if scene.auth.accounts.get(user) != "p":
        raise Wrong("the authserver was not asked to make the account")


def _spelling(scene: Scene) -> None:
    scene.auth.accounts["col"] = "a:b c:"
    scene.auth.accounts["sp"] = " x"
    with scene.client() as client:
        same(client.ask("get: ann: lemon"), "OK", "the form with spaces")
        same(client.ask("get:ann:lemon\r"), "OK", "a CR before the end of the line")
        same(client.ask("get:col:a:b c:"), "OK", "a password with colons")
        same(client.ask("get:sp: x"), "OK", "a password that begins with a space")


def _not_found(scene: Scene) -> None:
    with scene.granted() as client:
        for name in ("no-such-file", "inside/no-such-file", "GET:ann:lemon"):
            same(client.ask(name), "not-found", f"{name}")
        same(client.ask(scene.small), scene.files[scene.small], "a file behind them")


def _fence(scene: Scene) -> None:
    names = ("../secret", "inside/../../secret", str(scene.folder / "secret"), "link", "absolute")
    with scene.granted() as client:
        for name in (*names, f"./{scene.small}", "inside//x"):
            shown = name if len(name) < 40 else "an absolute path"
            same(client.ask(name), "not-found", shown)


def _folder(scene: Scene) -> None:
    with scene.granted() as client:
        for name in ("inside", "inside/", "fifo"):
            same(client.ask(name), "not-found", name)


def _syntax(scene: Scene) -> None:
    with scene.client() as client:
        for line in ("", "get:ann", "new:ann", "get:a\x01n:lemon"):
            same(client.ask(line), "syntax", f"the line {line!r}")
        same(client.ask("get:ann:lemon"), "OK", "a get: behind them")


def _invalid(scene: Scene) -> None:
    with scene.client() as client:
        for line in ("get::lemon", "get:ann:", "get:a/b:x", f"new:{'a' * 65}:x", "new:a b:x"):
            same(client.ask(line), "invalid", f"the line {line[:30]!r}")
        same(client.ask(f"get:ann:{'x' * 129}"), "invalid", "a password of 129 bytes")


def _too_long(scene: Scene) -> None:
    with scene.client() as client:
        client.send("a" * 512)
        same(client.reply(), "too-long", "512 bytes without the end of a line")
        if not client.has_ended():
            raise Wrong("the connection stayed open")


def _pieces(scene: Scene) -> None:
    wanted = ("OK", scene.files[scene.small], "not-found", "OK")
    text = f"get:ann:lemon\n{scene.small}\nno-such-file\nget:ann:lemon\n"
    with scene.client() as client:
        client.send(text)
        for one in wanted:
            same(client.reply(), one, "one of four lines that came in one piece")
    with scene.client() as client:
        for byte in text.encode():
            client.send(bytes([byte]))
            time.sleep(0.0005)
        for one in wanted:
            same(client.reply(), one, "one of four lines that came byte by byte")


def _half_closed(scene: Scene) -> None:
    with scene.client("get:ann:lemon", scene.small) as client:
        client.send(scene.small)  # without its end
        client.say_no_more()
        same(client.reply(), "OK", "the get: of a client that sends no more")
        same(client.reply(), scene.files[scene.small], "its file")
        if not client.has_ended():
            raise Wrong("the last line, which had no end, was answered or kept open")


def _parallel(scene: Scene) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(scene.granted()).send("small-")
        file_comes(scene)
        require_counted(scene, lambda: file_comes(scene))


def _unavailable(scene: Scene) -> None:
    with scene.granted() as client:
        scene.auth.go_away()
        try:
            same(client.ask("ping"), "unavailable", "a ping while there is no authserver")
            same(client.ask("get:ann:lemon"), "unavailable", "a get: while there is none")
            same(client.ask(scene.small), "denied", "a file name behind it")
        finally:
            scene.auth.come_back()
        same(client.ask("ping"), "OK", "a ping when it is back")
        same(client.ask("get:ann:lemon"), "OK", "a get: when it is back")


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


CASES = (
    Case("ready", "It prints READY HOST:PORT, and takes connections there.", _ready),
    Case(
        "file",
        "After get:USER:PASSWORD, a file name is answered with OK SIZE and bytes.",
        file_comes,
    ),
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
