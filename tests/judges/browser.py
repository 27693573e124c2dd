"""A headless Chromium that does what it is told through a pipe (the DevTools protocol)."""

import base64
import contextlib
import json
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from processes import children, resident_bytes
from waiting import LONG_S

PROGRAM = "chromium"
# The sandbox needs rights that a test may not have, and /dev/shm may be small in a container.
_FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-dev-shm-usage"),
    *("--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars"),
)
# Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
_ON_PIPES = 'commands=$1 answers=$2; shift 2; exec "$@" 3<&"$commands" 4>&"$answers"'
# Works too where no script runs.
_SIGN_IN = """([user, password]) => {
  const request = new XMLHttpRequest();
  request.open("POST", "/-/session", false);
  request.setRequestHeader("Accept", "text/html");
  request.send(JSON.stringify({ user, password }));
}"""
_KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Tab": 9, "Enter": 13, "Escape": 27}

Event = dict[str, Any]


class Browser:
    """Shows one page at a time. Unless `open` says so, no script of it runs; `evaluate` does.

    Methods fail with an AssertionError when Chromium does not answer in LONG_S.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Chromium writes to `folder` only, and saves files in `folder`/saved."""
        self.saved = folder / "saved"
        self.logins: list[tuple[str, str]] = []
        self.times_asked = 0
        self._buffer = b""
        self._number = 0
        self._session = ""
        self._events: list[Event] = []
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        self._process = subprocess.Popen(
            [
                *("bash", "-c", _ON_PIPES, "bash", str(commands), str(answers)),
                *(PROGRAM, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"),
            ],
            env=environment,
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)

    def open(self, *logins: tuple[str, str], scripts: bool = False) -> None:
        """Opens an empty page that knows no password, as in a private window.

        The page to sign in, or the dialogue for a password, gets the logins in turn.
        """
        self.logins = list(logins)
        self.times_asked = 0
        self._session = ""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        page = self.call("Target.createTarget", url="about:blank", browserContextId=context)
        target = page["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for command, parameters in {
            "Page.enable": {},
            "Page.setLifecycleEventsEnabled": {"enabled": True},
            "Fetch.enable": {"handleAuthRequests": True},
            "Runtime.enable": {},
            "Log.enable": {},
            "Emulation.setScriptExecutionDisabled": {"value": not scripts},
            "Browser.setDownloadBehavior": {
                "behavior": "allow",
                "browserContextId": context,
                "downloadPath": str(self.saved),
                "eventsEnabled": True,
            },
        }.items():
            self.call(command, **parameters)

    def close_page(self) -> None:
        """At once, as a tab that is closed: the page is not asked whether it may be left."""
        target = self.call("Target.getTargetInfo")["targetInfo"]["targetId"]
        self._session = ""
        self.call("Target.closeTarget", targetId=target)

    def close(self) -> None:
        os.close(self._to)  # Chromium ends when nobody can tell it anything more.
        try:
            self._process.wait(LONG_S)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._from)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and returns its result."""
        number = self._send(method, parameters)
        answer = self._until(lambda message: message.get("id") == number, method)
        assert "error" not in answer, f"{method}: {answer}"
        result: dict[str, Any] = answer["result"]
        return result

    def goes(self, action: Callable[[], object]) -> None:
        """Does what leads to another page, and waits until that page is there."""
        before = self._loader()
        self._events.clear()
        action()
        while (event := self._event("Page.lifecycleEvent"))["loaderId"] == before or (
            event["name"] != "load"
        ):
            pass

    def go(self, url: str) -> None:
        """If the page is the one to sign in, signs in with the next of the logins."""
        self.goes(lambda: self.call("Page.navigate", url=url))
        if self.logins and self.evaluate("!!document.querySelector('form.log-in')"):
            self.times_asked += 1
            self.evaluate(f"({_SIGN_IN})({json.dumps(self.logins.pop(0))})")
            self.go(url)

    def save(self, action: Callable[[], object]) -> bytes:
        """Does what saves a file, and returns the bytes of that file."""
        self._events.clear()
        action()
        name = self._event("Browser.downloadWillBegin")["suggestedFilename"]
        while (state := self._event("Browser.downloadProgress")["state"]) == "inProgress":
            pass
        assert state == "completed", state
        return (self.saved / name).read_bytes()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        code = _KEYS[key]
        text = {"text": "\r"} if key == "Enter" else {}
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def resident_bytes(self) -> int:
        """The memory of all its processes now. What they share counts several times."""
        total = 0
        for pid in self._processes(self._process.pid):
            with contextlib.suppress(OSError, ValueError):  # it ends just now, and has none
                total += resident_bytes(pid)
        return total

    def _processes(self, pid: int) -> list[int]:
        below = [other for child in children(pid) for other in self._processes(child)]
        return [pid, *below]

    def choose(self, selector: str, *paths: Path) -> None:
        """Gives files, or a folder, to an input, as the dialogue of the system does."""
        found = self.call("Runtime.evaluate", expression=f"document.querySelector('{selector}')")
        names = [str(path) for path in paths]
        self.call("DOM.setFileInputFiles", files=names, objectId=found["result"]["objectId"])

    def drop(self, *paths: Path) -> None:
        """Drops files and folders on the middle of the page."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=200, y=200, data=data)

    def complaints(self) -> list[str]:
        """What the page did that its policy forbids, and the errors of its script, until now."""
        self.evaluate("0")
        return [
            str(event["params"])
            for event in self._events
            if event["method"] == "Runtime.exceptionThrown"
            or (
                event["method"] == "Log.entryAdded"
                and event["params"]["entry"]["source"] in ("security", "javascript", "violation")
            )
        ]

    def click(self, text: str, kind: str = "a[href]") -> None:
        """Clicks on the middle of the first line of what has this text: a link, or of `kind`."""
        of_link = (
            f"[...document.querySelectorAll({json.dumps(kind)})].findLast("
            f"one => !one.hidden && one.textContent === {json.dumps(text)})"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, self._place_of(of_link))

    def drag(self, link: str, to: str, with_control: bool = False) -> None:
        """Drags one element to another; both are expressions."""
        self.call("Input.setInterceptDrags", enabled=True)
        x, y = self._place_of(link)
        self._mouse("mousePressed", (x, y))
        for step in (2, 4, 8):
            self._mouse("mouseMoved", (x + step, y + step))
        data = self._event("Input.dragIntercepted")["data"]
        x, y = self._place_of(to)
        for kind in ("dragEnter", "dragOver", "drop"):
            modifiers = 2 if with_control else 0
            self.call(
                "Input.dispatchDragEvent", type=kind, x=x, y=y, data=data, modifiers=modifiers
            )
        self._mouse("mouseReleased", (x, y))
        self.call("Input.setInterceptDrags", enabled=False)

    def _place_of(self, element: str) -> tuple[float, float]:
        """The middle of its first line, once that is on the screen."""
        place: list[float] = self.evaluate(
            "(one => { one.scrollIntoView({block: 'center'}); const box = one.getClientRects()[0];"
            f" return [box.x + box.width / 2, box.y + box.height / 2]; }})({element})"
        )
        return (place[0], place[1])

    def _mouse(self, kind: str, place: tuple[float, float]) -> None:
        mouse = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, **mouse)

    def resize(self, width: int, height: int, is_phone: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if is_phone else 1,
            mobile=is_phone,
        )

    def set_network(self, is_gone: bool = False, bytes_a_s: int = -1) -> None:
        """Loses it, slows uploads down, or makes it as it is."""
        self.call("Network.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=is_gone,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=bytes_a_s,
        )

    def prefer(self, scheme: str) -> None:
        """light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self) -> bytes:
        """A PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def _loader(self) -> str:
        """What the present page was loaded by; no other page has the same."""
        return str(self.call("Page.getFrameTree")["frameTree"]["frame"]["loaderId"])

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        return self._number

    def _event(self, name: str) -> Event:
        """Takes the next event of this name out of those that came and come."""
        for at, event in enumerate(self._events):
            if event["method"] == name:
                parameters: Event = self._events.pop(at)["params"]
                return parameters
        self._until(lambda message: message.get("method") == name, name)
        return self._event(name)

    def _until(self, is_wanted: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        """Reads messages, and answers what they ask, until the wanted one, and returns that."""
        deadline = time.monotonic() + LONG_S
        while True:
            message = self._read(deadline, what)
            if "method" in message:
                self._events.append(message)
                self._answer(message["method"], message["params"])
            if is_wanted(message):
                return message

    def _answer(self, event: str, parameters: dict[str, Any]) -> None:
        """Lets requests pass, and answers the dialogue for a password."""
        if event == "Fetch.requestPaused":
            self._send("Fetch.continueRequest", {"requestId": parameters["requestId"]})
        if event == "Fetch.authRequired":
            self.times_asked += 1
            response = {"response": "CancelAuth"}
            if self.logins:
                user, password = self.logins.pop(0)
                response = {
                    "response": "ProvideCredentials",
                    "username": user,
                    "password": password,
                }
            answer = {"requestId": parameters["requestId"], "authChallengeResponse": response}
            self._send("Fetch.continueWithAuth", answer)

    def _read(self, deadline: float, what: str) -> dict[str, Any]:
        """One message, which a NUL ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            while b"\0" not in self._buffer:
                left_s = deadline - time.monotonic()
                assert left_s > 0 and selector.select(left_s), f"Chromium: no answer to {what}"
                read = os.read(self._from, 1 << 20)
                assert read, f"Chromium has ended before {what}"
                self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message
