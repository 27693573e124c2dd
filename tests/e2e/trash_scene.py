"""What the tests of the trash have in common."""

import json

from http_client import HttpClient

TRASH = ("--trash", 7)
FOLDER = ".turnstile-trash"
OURS = "Sec-Fetch-Site: same-origin"


def listed(client: HttpClient) -> list[dict]:
    answer = client.ask("/-/trash/")
    assert (answer.status, answer.fields["content-type"]) == (
        200,
        "application/json; charset=utf-8",
    ), answer
    return json.loads(answer.body)


def act(client: HttpClient, method: str, identity: str, *fields: str) -> int:
    length = () if method == "DELETE" else ("Content-Length: 0",)
    return client.ask(f"/-/trash/{identity}", *fields, *length, method=method).status
