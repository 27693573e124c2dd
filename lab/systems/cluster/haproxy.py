"""haproxy, set up so that the name of a file decides which host has it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rig.processes import Address

HOST_HEADER = "X-Served-By"  # of an answer: the name of the host


@dataclass(frozen=True)
class Behind:
    """A host, by its place in the hash. It keeps its place when others go or come.

    A host that is out gets no request, as one whose check has failed.
    """

    number: int  # from 1
    address: Address
    is_out: bool = False

    @property
    def name(self) -> str:
        return f"host-{self.number}"


# One thread, so that what it needs is a share of one core. The most points in the hash for each
# host, so that the shares of the hosts differ by few percent.
_CONFIGURATION = """
global
    nbthread 1
    maxconn 4000

defaults
    mode http
    timeout connect 500ms
    timeout check 2s
    timeout http-request 10s
    timeout http-keep-alive 60s
    timeout client 60s
    timeout server 60s
    retries 2
    option redispatch 1
    retry-on conn-failure empty-response

frontend clients
    bind {listen}
    http-request disable-l7-retry if !METH_GET
    http-response set-header {header} %s
    default_backend fileservers

backend fileservers
    balance uri path-only
    hash-type consistent sdbm avalanche
    option forwardfor
    option httpchk GET /-/health
    default-server weight 256 on-marked-down shutdown-sessions
"""
# A host that waits for its share of a core answers late, and is not lost.
_CHECK = "check inter 500ms fall 2 rise 2"
_OF_NAMES = """
frontend {name}
    bind {address}
    http-request return status 200 hdr {header} {name}
"""


def configuration(listen: Address, hosts: Sequence[Behind]) -> str:
    """In front of fileservers, whose health it checks."""
    text = _CONFIGURATION.format(listen=listen, header=HOST_HEADER)
    return text + "".join(_server(one, _CHECK) for one in hosts)


def configuration_of_names(listen: Address, hosts: Sequence[Behind]) -> str:
    """As configuration(), but the proxy listens at the addresses of the hosts too, and answers each
    request with the name of the host. So it tells which host has which name.
    """
    text = _CONFIGURATION.format(listen=listen, header=HOST_HEADER)
    # It waits for itself, however busy the machine is, and no other host answers in the meantime.
    text = text.replace("timeout connect 500ms", "timeout connect 60s")
    text += "".join(_server(one, "") for one in hosts)
    return text + "".join(
        _OF_NAMES.format(name=one.name, address=one.address, header=HOST_HEADER) for one in hosts
    )


def _server(one: Behind, check: str) -> str:
    words = ["server", one.name, str(one.address), "id", str(one.number), check]
    words += ["disabled"] if one.is_out else []
    return f"    {' '.join(filter(None, words))}\n"
