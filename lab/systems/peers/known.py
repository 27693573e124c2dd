"""The servers of others by the names that the lab gives them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rig.errors import WrongUsage

from .gridftp import SINK, GridFtp
from .inetutils import InetutilsFtpd
from .nginx import Nginx, NginxAnonymous
from .proftpd import Proftpd
from .pure_ftpd import PureFtpd, PureFtpdAnonymous, PureFtpdAuthd, PureFtpdByInetd
from .pyftpd import Pyftpdlib
from .server import PeerServer, Setting
from .vsftpd import Vsftpd, VsftpdAnonymous

NOBODY = "nobody"
A_FILE = "a file"
A_FILE_BY_PAM = "a file, by PAM"
OUR_AUTHSERVER = "our authserver"
ITS_MEMORY = "a table in its memory"
_FILE_OF_EACH = "upload-%d"  # one for each user, as loadgen counts them


@dataclass(frozen=True, kw_only=True)
class Entry:
    """asks_whom says where a log-in is validated: rates are only comparable with the same."""

    name: str
    server: type[PeerServer]
    asks_whom: str
    is_tuned: bool = False  # not as its makers deliver it, but for speed
    upload_name: str = ""  # as in system.Running; "" if users may not write
    is_writable: bool = False  # users see a folder in memory; see server.Setting
    has_third_parties: bool = False  # see server.Setting


def _uploads(name: str, server: type[PeerServer], asks_whom: str) -> Entry:
    """One whose users store a file each, again and again, in memory."""
    return Entry(
        name=name,
        server=server,
        asks_whom=asks_whom,
        upload_name=_FILE_OF_EACH,
        is_writable=True,
    )


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(name="pure-ftpd", server=PureFtpd, asks_whom=A_FILE),
        Entry(name="pure-ftpd-tuned", server=PureFtpd, asks_whom=A_FILE, is_tuned=True),
        Entry(name="pure-ftpd-inetd", server=PureFtpdByInetd, asks_whom=A_FILE),
        Entry(name="pure-ftpd-authd", server=PureFtpdAuthd, asks_whom=OUR_AUTHSERVER),
        Entry(name="pure-ftpd-anonymous", server=PureFtpdAnonymous, asks_whom=NOBODY),
        Entry(name="vsftpd", server=Vsftpd, asks_whom=A_FILE_BY_PAM),
        Entry(name="vsftpd-tuned", server=Vsftpd, asks_whom=A_FILE_BY_PAM, is_tuned=True),
        Entry(name="vsftpd-anonymous", server=VsftpdAnonymous, asks_whom=NOBODY),
        Entry(name="proftpd", server=Proftpd, asks_whom=A_FILE),
        Entry(name="proftpd-tuned", server=Proftpd, asks_whom=A_FILE, is_tuned=True),
        _uploads("pure-ftpd-uploads", PureFtpd, A_FILE),
        _uploads("vsftpd-uploads", Vsftpd, A_FILE_BY_PAM),
        _uploads("proftpd-uploads", Proftpd, A_FILE),
        replace(_uploads("pure-ftpd-receiver", PureFtpd, A_FILE), has_third_parties=True),
        Entry(name="pure-ftpd-sender", server=PureFtpd, asks_whom=A_FILE, has_third_parties=True),
        Entry(name="gridftp", server=GridFtp, asks_whom=NOBODY, upload_name=SINK),
        Entry(name="pyftpdlib", server=Pyftpdlib, asks_whom=ITS_MEMORY),
        Entry(name="inetutils-ftpd", server=InetutilsFtpd, asks_whom=NOBODY),
        Entry(name="nginx", server=Nginx, asks_whom=A_FILE),
        Entry(name="nginx-anonymous", server=NginxAnonymous, asks_whom=NOBODY),
    )
}


@contextmanager
def running(name: str, setting: Setting) -> Iterator[PeerServer]:
    """Starts the server, and stops it with all its processes when the block is left.

    WrongUsage for an unknown name. LeftOut, with a reason, when this host cannot run the server.
    """
    if name not in ENTRIES:
        raise WrongUsage(f"no server '{name}'; there are: {', '.join(ENTRIES)}")
    entry = ENTRIES[name]
    own = {name: getattr(entry, name) for name in ("is_tuned", "is_writable", "has_third_parties")}
    server = entry.server(replace(setting, **own))
    server.start()
    try:
        yield server
    finally:
        server.stop()
