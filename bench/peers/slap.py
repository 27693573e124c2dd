"""One run of the database's own load generator: what MySQL or MariaDB can do without any hop."""

from __future__ import annotations

import re

from lab.rig.databases import MysqlServer
from lab.rig.errors import Failed
from lab.rig.host import Tool
from lab.rig.processes import run_tool

TOOL = Tool(("mariadb-slap", "mysqlslap"), "mariadb-client")
_QUERIES = 8000  # a second or two; there is no flag for a time
_TIMEOUT_S = 120.0
_AVERAGE = re.compile(r"Average number of seconds to run all queries: ([0-9.]+) seconds")
_TABLE = "CREATE TABLE accounts (name VARBINARY(64) PRIMARY KEY, record VARBINARY(255) NOT NULL)"


def insert_rate(server: MysqlServer, threads: int) -> float:
    """Rows a second, each with another name and committed for itself, over kept connections."""
    command = [str(TOOL.found()), "--no-defaults", f"--socket={server.socket}", "--user=root"]
    command += [f"--create={_TABLE}", "--create-schema=slap", f"--concurrency={threads}"]
    command += ["--query=INSERT INTO accounts VALUES (UUID(), 'record')"]
    output = run_tool([*command, f"--number-of-queries={_QUERIES}"], "slap", _TIMEOUT_S)
    average = _AVERAGE.search(output)
    if not average:
        raise Failed(f"{command[0]}: {output.strip()}")
    return _QUERIES / float(average[1])
