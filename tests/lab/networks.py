"""What tests need that lay links between network namespaces."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import own_network
from needs import missing


def why_no_namespace() -> str:
    """Empty where a link between two namespaces can be made, else the reason, to skip with."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    make = "ip link add one type veth peer name two && "
    make += "tc qdisc add dev one root tbf rate 1mbit burst 9999 latency 9ms"
    try:
        made = subprocess.run([*unshare, "sh", "-c", make], capture_output=True, check=False)
    except FileNotFoundError:
        return missing("unshare")
    return "" if made.returncode == 0 else "a link between network namespaces is not permitted here"


def why_not_in_own() -> str:
    """Moves this process into a network namespace of its own, so that links may be laid in it.

    Empty where that was possible. Requires: it has one thread.
    """
    return why_no_namespace() or own_network.enter() or ""
