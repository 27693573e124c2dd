"""Serves a folder with pyftpdlib. The accounts are a JSON file: user -> password."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

_BACKLOG = 4096


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--accounts", type=Path, required=True)
    parser.add_argument("--connections", type=int, required=True)
    arguments = parser.parse_args()
    FTPHandler.authorizer = DummyAuthorizer()
    for user, password in json.loads(arguments.accounts.read_text(encoding="utf-8")).items():
        FTPHandler.authorizer.add_user(user, password, arguments.root)
    server = FTPServer((arguments.host, arguments.port), FTPHandler, backlog=_BACKLOG)
    server.max_cons = arguments.connections
    server.serve_forever(handle_exit=False)


if __name__ == "__main__":
    main()
