"""Requests of WebDAV, and what their answers with 207 say."""

import http.client
from dataclasses import dataclass, field
from xml.etree import ElementTree

from http_client import basic
from programs import Program

DAV = "{DAV:}"
ALL = b'<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>'


@dataclass
class Response:
    """What is said of one resource: the elements of its properties by status and name."""

    href: str
    properties: dict[int, dict[str, ElementTree.Element]] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """The text of a property of DAV: that is there."""
        found = self.properties[200].get(DAV + name)
        return None if found is None else (found.text or "")

    def is_folder(self) -> bool:
        return self.properties[200][f"{DAV}resourcetype"].find(f"{DAV}collection") is not None


def responses(body: bytes) -> list[Response]:
    root = ElementTree.fromstring(body)
    assert root.tag == f"{DAV}multistatus", root.tag
    found = []
    for one in root:
        assert one.tag == f"{DAV}response", one.tag
        response = Response(one.findtext(f"{DAV}href") or "")
        for propstat in one.findall(f"{DAV}propstat"):
            status = (propstat.findtext(f"{DAV}status") or "").split()
            assert status[0] == "HTTP/1.1", status
            names = {element.tag: element for element in propstat.find(f"{DAV}prop") or []}
            assert int(status[1]) not in response.properties, "a status came twice"
            response.properties[int(status[1])] = names
        assert response.properties, "a response without a propstat"
        found.append(response)
    return found


def prop(*names: str) -> bytes:
    """The body of a PROPFIND for properties of DAV:."""
    elements = "".join(f"<D:{name}/>" for name in names)
    body = f'<D:propfind xmlns:D="DAV:"><D:prop>{elements}</D:prop></D:propfind>'
    return body.encode()


@dataclass
class DavAnswer:
    status: int
    fields: dict[str, str]
    body: bytes


def ask(
    server: Program,
    method: str,
    path: str,
    *fields: str,
    body: bytes = b"",
    user: tuple[str, str] = ("alice", "wonderland"),
) -> DavAnswer:
    """Sends one request on a connection of its own."""
    host, port = server.further_address("http")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    headers = {"Authorization": basic(*user)}
    for line in fields:
        name, value = line.split(": ", 1)
        headers[name] = value
    try:
        connection.request(method, path, body=body or None, headers=headers)
        answer = connection.getresponse()
        named = {one.lower(): said for one, said in answer.getheaders()}
        return DavAnswer(answer.status, named, answer.read())
    finally:
        connection.close()
