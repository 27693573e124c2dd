"""The flags of `lab run`, `lab doctor` and `lab search`: a row each, in groups, with examples."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rig.stores import KINDS

from .kinds.crowd.load import ENGINES
from .plan.planned import BLOCKED, CYCLED, INTERLEAVED

_ROOT = Path(__file__).resolve().parent.parent

Rows = Mapping[str, Mapping[str, Any]]  # flag -> what argparse wants to know of it

_PLAN: Mapping[str, Rows] = {
    "what is measured": {
        "--quick": {
            "action": "store_true",
            "help": "short points and few repetitions; shows the shape in minutes",
        },
        "--stages": {
            "metavar": "A,B",
            "help": "measure these stages instead of the experiment's own",
        },
        "--sizes": {"metavar": "A,B", "help": "measure only these rows: new, 1KB … 100MB"},
        "--threads": {
            "metavar": "N,N",
            "help": "measure exactly these numbers of threads, users or transfers, or this number "
            "of clients of a ramp; no stop rule",
        },
        "--channels": {
            "metavar": "K,K",
            "help": "downloads: measure exactly these numbers of channels",
        },
        "--store": {
            "metavar": "KIND",
            "help": f"use this store for every stage: {', '.join(KINDS)}",
        },
    },
    "how long and how often": {
        "--seconds": {"metavar": "S", "help": "duration of a point"},
        "--repeat": {
            "metavar": "N",
            "help": "how often the points that decide are measured",
        },
        "--order": {
            "choices": (INTERLEAVED, CYCLED, BLOCKED),
            "default": INTERLEAVED,
            "help": "of the repetitions; interleaved: passes over all cells, every second one "
            "backwards; cycled: all forwards; blocked: those of a burst in a row",
        },
        "--series": {
            "action": "store_true",
            "help": "keep what happened in each second of each run, and draw the least steady "
            "run of each cell",
        },
        "--gap": {"metavar": "S", "help": "wait so long between two trials"},
    },
    "on which part of which machine": {
        "--pin": {
            "metavar": "PLAN",
            "default": "auto",
            "help": "a plan of `lab list`, or fileserver=0,loadgen=1-2 (default: auto)",
        },
        "--client": {
            "metavar": "HOST",
            "help": "where the load generator runs: a host that ssh reaches without a password, "
            "or netns for a network namespace of its own on this machine (default: here, over "
            "loopback)",
        },
        "--link": {
            "metavar": "RATE",
            "help": "the rate of the link to that namespace, 10mbit or 1gbit; or a link with a "
            "delay, of `lab list --all`",
        },
        "--shared": {
            "action": "store_true",
            "help": "others use this machine too: closed loops at N = 8, or as --threads says, and "
            "verdicts by the CPU time of a request; throughput is grey in the report",
        },
        "--machine": {
            "metavar": "NAME",
            "help": "a machine of `lab list --all` for the program that serves files, by a "
            "control group",
        },
        "--memory": {
            "metavar": "SIZE",
            "help": "the most memory of that program, in place of the machine's: 512M, 1G",
        },
        "--work": {
            "metavar": "FOLDER",
            "type": Path,
            "default": _ROOT / "build" / "lab",
            "help": "folder for test files and stores; must be on a disk (default: build/lab)",
        },
        "--programs": {
            "metavar": "FOLDER",
            "type": Path,
            "default": _ROOT / "build",
            "help": "folder of the built programs (default: build)",
        },
    },
    "only for the knee, for crowds, bursts or ramps": {
        "--p99": {
            "metavar": "MS",
            "help": "knee: search the highest rate that keeps p99 under MS",
        },
        "--pace": {"metavar": "BYTES_S", "help": "crowds: what each user reads in a second"},
        "--engine": {
            "choices": ENGINES,
            "help": "crowds: how the load generator waits for bytes",
        },
        "--discard": {
            "metavar": "N",
            "help": "bursts: the first N repetitions are in no table",
        },
        "--hold": {
            "choices": ("freeze",),
            "help": "bursts: freeze the processes of the program that serves files while all ask",
        },
        "--scale": {
            "metavar": "N",
            "help": "ramps: divide the paper's times and file sizes by N; 1 is the paper itself",
        },
        "--hosts": {
            "metavar": "FILE",
            "type": Path,
            "help": "ramps: the hosts of this file, as ssh takes them, run the testers; a line "
            "may have a group behind the host (default: network namespaces of this machine)",
        },
    },
    "what the report says": {
        "--note": {
            "metavar": "TEXT",
            "help": "what differed from the usual, and what that may do; the report prints it",
        },
    },
}

_WAIT: Rows = {
    "--wait": {
        "action": "store_true",
        "help": "wait for its turn where another lab is running on this machine",
    },
}
_MEASURING: Rows = {
    **_WAIT,
    "--watch": {
        "action": "store_true",
        "help": "write the report so far after each point; a browser that shows it loads it again",
    },
    "--out": {
        "metavar": "FOLDER",
        "type": Path,
        "help": "results folder; an existing one is resumed (default: one of its own below "
        "lab-results, or below the folder that TURNSTILE_LAB_RESULTS names)",
    },
    "--anyway": {
        "action": "store_true",
        "help": "measure the rest where this host lacks what a part of it needs, and go on where "
        "other programs disturb each point",
    },
}

_USERS: Rows = {
    "--targets": {"metavar": "A,B", "help": "the same as --stages"},
    "--file": {"metavar": "SIZE", "help": "the same as --sizes, for one (default: 10KB)"},
}

STATUSES = """\
exit status:
  0  done
  1  something could not be measured; the report has the rest
  2  wrong usage
  3  no point is valid, or other programs disturbed three points in a row and the run stopped
"""
RUN_EXAMPLES = """\
examples:
  scripts/lab run prefetch --quick             the shape of one experiment, in two minutes
  sudo scripts/lab run prefetch                numbers to quote; root measures the disk too
  scripts/lab run table4 --quick --sizes 1KB   one row of a table
  scripts/lab run prefetch --quick --shared    on a machine that others use meanwhile
  scripts/lab run table4 --out lab-results/x   resumes this folder if it is there
  sudo scripts/lab run all                     all experiments of the main paper
"""
DOCTOR_EXAMPLES = """\
examples:
  scripts/lab doctor prefetch --quick   what this host lacks for it, and how long it takes
  sudo scripts/lab doctor               the same for all experiments of the main paper
"""
SEARCH_EXAMPLES = """\
examples:
  sudo scripts/lab search users --targets ours,nginx          with files of 10KB
  sudo scripts/lab search users --targets ours --memory 30M   with little memory
"""


_SIDE: Rows = {
    "flags": {
        "metavar": "FLAGS",
        "help": "flags of its fileserver; those behind the word authserver: are the authserver's",
    },
    "programs": {"metavar": "FOLDER", "type": Path, "help": "its servers are those of this folder"},
    "commit": {"metavar": "COMMIT", "help": "its servers are built from this commit"},
}
_AB: Mapping[str, Rows] = {
    "the two variants": {
        f"--{side}-{what}": {**how, "help": f"{side.upper()}: {how['help']}"}
        for side in ("a", "b")
        for what, how in _SIDE.items()
    },
    "how they are measured": {
        "--size": {
            "metavar": "SIZE",
            "default": "10KB",
            "help": "new, 1KB … 100MB (default: 10KB)",
        },
        "--threads": {"metavar": "N", "default": "8", "help": "users at a time (default: 8)"},
        "--blocks": {"metavar": "N", "default": "8", "help": "of four trials each (default: 8)"},
        "--seconds": {"metavar": "S", "default": "2", "help": "of a trial (default: 2)"},
        **{
            flag: how
            for rows in _PLAN.values()
            for flag, how in rows.items()
            if flag in ("--store", "--pin", "--work", "--programs")
        },
        **_WAIT,
        "--out": {"metavar": "FOLDER", "type": Path, "help": "folder of ab.json and all trials"},
    },
}
AB_STATUSES = """\
exit status:
  0  done, also where no difference can be told
  1  something could not be measured
  2  wrong usage
  3  no block is valid
"""
AB_EXAMPLES = """\
examples:
  scripts/lab ab turnstile --b-flags "--model event"             a flag against the default
  scripts/lab ab turnstile --b-flags "authserver: --workers 4"   the same of the authserver
  scripts/lab ab turnstile --a-commit HEAD~1 --size 100KB        what the last commit changed
  scripts/lab ab turnstile --b-programs /tmp/mine --blocks 20    your own server against ours
  scripts/lab ab turnstile --b-flags ""                          the same twice: the noise
"""


def with_flags_of_servers(words: Sequence[str]) -> list[str]:
    """argparse takes --model=event for a flag of the lab, and not for the value of --b-flags."""
    made: list[str] = []
    for word in words:
        if made and made[-1] in ("--a-flags", "--b-flags"):
            made[-1] += f"={word}"
        else:
            made.append(word)
    return made


def add_ab(parser: argparse.ArgumentParser) -> None:
    for title, rows in _AB.items():
        _add(parser, title, rows)


def add_experiments(parser: argparse.ArgumentParser, *, are_needed: bool) -> None:
    parser.add_argument(
        "experiments",
        nargs="+" if are_needed else "*",
        metavar="EXPERIMENT",
        help="a name from `lab list`, the number of a paper, or all",
    )


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Those that say what is measured, and how."""
    for title, rows in _PLAN.items():
        _add(parser, title, rows)


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Those of the commands that measure."""
    _add(parser, "results", _MEASURING)


def add_users(parser: argparse.ArgumentParser) -> None:
    _add(parser, "of this search", _USERS)


def _add(parser: argparse.ArgumentParser, title: str, rows: Rows) -> None:
    group = parser.add_argument_group(title)
    for flag, how in rows.items():
        group.add_argument(flag, **how)
