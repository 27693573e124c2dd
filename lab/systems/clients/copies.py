"""Copies of a file from one server to another: by order of a client, or through it."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from .client import Curl, GlobusUrlCopy, Lftp, Wanted

_SCRIPT = """\
set cmd:fail-exit yes
set net:max-retries 2
set xfer:log no
set ftp:use-fxp yes
set ftp:fxp-force yes
set ftp:fxp-passive-source yes
get {source} -o {target}
"""


def _target(wanted: Wanted) -> str:
    """The name that the receiver takes, with the one thing in it that counts users."""
    return wanted.receiver_name.replace("%d", "1")


def piped(get: Sequence[str], put: Sequence[str]) -> list[str]:
    """What one prints is read by the other. It fails if either does, and both end with it."""
    both = " | ".join(shlex.join(["setpriv", "--pdeathsig", "KILL", *one]) for one in (get, put))
    return ["bash", "-o", "pipefail", "-c", both]


class GlobusByOrder(GlobusUrlCopy):
    """A third-party copy between GridFTP servers."""

    def target(self, wanted: Wanted) -> str:
        assert wanted.receiver
        return f"ftp://{wanted.receiver.server}/{_target(wanted).lstrip('/')}"

    def saved(self, _wanted: Wanted) -> list[Path]:
        return []


class GlobusThrough(GlobusByOrder):
    """The same copy through the client: one program gets, the other one puts."""

    def transfer(self, wanted: Wanted) -> list[str]:
        program = str(self.copy.path("usr/bin/globus-url-copy"))
        get = [program, self.source(wanted), "-"]
        put = [program, "-", self.target(wanted)]
        return piped(get, put)


class LftpByOrder(Lftp):
    """A third-party copy between FTP servers: PASV of one, PORT of the other."""

    can_throw_away = True

    def command(self, wanted: Wanted) -> list[str]:
        assert wanted.receiver
        to = wanted.receiver
        source = f"ftp://{wanted.user}:{wanted.password}@{wanted.server}/{wanted.name}"
        target = f"ftp://{to.user}:{to.password}@{to.server}/{_target(wanted)}"
        script = wanted.write("script", _SCRIPT.format(source=source, target=target))
        return [str(self.copy.path("usr/bin/lftp")), "--norc", "-f", str(script)]

    def saved(self, _wanted: Wanted) -> list[Path]:
        return []


class CurlThrough(Curl):
    """The same copy through the client: one curl gets, the other one puts."""

    def command(self, wanted: Wanted) -> list[str]:
        assert wanted.receiver
        to = wanted.receiver
        netrc = wanted.write_netrc()
        words = f"machine {to.host} login {to.user} password {to.password}\n"
        theirs = str(wanted.write("netrc-receiver", words))
        quiet = ["curl", "--disable", "--fail", "--silent", "--show-error"]
        get = [*quiet, "--netrc-file", str(netrc), wanted.url]
        put = [*quiet, "--netrc-file", theirs, "--ftp-method", "nocwd", "--upload-file", "-"]
        put += [f"ftp://{to.server}/{_target(wanted)}"]
        return piped(get, put)

    def saved(self, _wanted: Wanted) -> list[Path]:
        return []
