"""Asks the host for what must hold. Each question raises AssertionError if it does not."""

from collections.abc import Callable

from fresh_host import Host

AUTH, FILES = "turnstile-authserver", "turnstile-fileserver"

Check = Callable[[Host], None]


def said(host: Host, script: str, user: str = "root") -> str:
    """What it prints. It must succeed."""
    done = host.run(script, user)
    assert done.returncode == 0, f"{script}\n{done.stdout}"
    return done.stdout.strip()


def expect(host: Host, script: str, wanted: str, user: str = "root") -> None:
    printed = said(host, script, user)
    assert printed == wanted, f"{script}\n{printed!r} instead of {wanted!r}"


def refused(host: Host, script: str, words: str, user: str = "root") -> None:
    done = host.run(script, user)
    assert done.returncode != 0, f"{script}: was not refused"
    assert words in done.stdout, f"{script}\n{done.stdout}"


def eventually(host: Host, condition: str) -> None:
    """Waits until a command succeeds."""
    said(host, f"for i in {{1..300}}; do if {condition}; then exit 0; fi; sleep 0.1; done; exit 1")


def journal(host: Host, unit: str, words: str) -> None:
    eventually(host, f"journalctl --sync; journalctl -u {unit} | grep -qF -- '{words}'")


def pid_of(host: Host, unit: str) -> str:
    return said(host, f"systemctl show --property MainPID --value {unit}")
