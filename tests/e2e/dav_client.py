"""Requests of WebDAV about locks."""

import re

from http_client import Answer, HttpClient

_HEX = "[0-9a-f]"
_TOKEN = re.compile(
    rf"<(urn:uuid:{_HEX}{{8}}-{_HEX}{{4}}-4{_HEX}{{3}}-[89ab]{_HEX}{{3}}-{_HEX}{{12}})>"
)
_GRANTED = re.compile(r"<D:timeout>Second-([0-9]+)</D:timeout>")


def lock_info(scope: str = "exclusive", owner: str = "") -> bytes:
    """The body of a LOCK."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        f'<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:{scope}/></D:lockscope>'
        f"<D:locktype><D:write/></D:locktype>{owner}</D:lockinfo>"
    ).encode()


def lock(client: HttpClient, target: str, *fields: str, scope: str = "exclusive") -> Answer:
    return client.ask(target, *fields, method="LOCK", body=lock_info(scope))


def refresh(client: HttpClient, target: str, *fields: str) -> Answer:
    return client.ask(target, *fields, method="LOCK")


def unlock(client: HttpClient, target: str, token: str) -> Answer:
    return client.ask(target, f"Lock-Token: <{token}>", method="UNLOCK")


def token_of(answer: Answer) -> str:
    """The token of a lock that was made."""
    match = _TOKEN.fullmatch(answer.fields["lock-token"])
    assert match, answer
    return match[1]


def granted_s(answer: Answer) -> int:
    """The time-out that the answer to a LOCK says."""
    match = _GRANTED.search(answer.body.decode())
    assert match, answer
    return int(match[1])
