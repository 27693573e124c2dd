"""Starts rounds one after the other: tests/model/run."""

import argparse
import itertools
import random
import time

import disks
import own_network
from rounds import Plan, play


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests/model/run",
        description="plays rounds of clients against somebody who changes the served folder, "
        "and compares all answers with a model",
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="of all rounds (%(default)s)")
    parser.add_argument(
        "--round", type=float, default=6.0, metavar="S", help="of one (%(default)s)"
    )
    parser.add_argument("--seed", type=int, help="of the first round (default: another each time)")
    parser.add_argument("--files", choices=("prefetch", "disk"), action="append")
    parser.add_argument("--disk", choices=disks.KINDS, action="append")
    parser.add_argument("--model", choices=("thread", "event"), action="append")
    return parser.parse_args()


def main() -> int:
    """Returns the exit status. The last line is N passed, N failed, N skipped."""
    arguments = parse_arguments()
    files = arguments.files or ["prefetch", "disk"]
    models = arguments.model or ["thread", "event"]
    kinds = list(itertools.product(arguments.disk or disks.KINDS, files, models))
    first = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    passed = failed = skipped = 0
    if reason := own_network.enter():
        print(f"no network of our own, others may disturb the rounds: {reason}", flush=True)
    end = time.monotonic() + arguments.seconds
    for seed in itertools.count(first):
        if time.monotonic() > end:
            break
        disk, how, model = kinds[(seed - first) % len(kinds)]
        plan = Plan(seed, how, disk, arguments.round, model)
        try:
            result = play(plan)
        except disks.NoSuchDisk as reason:
            skipped += 1
            print(f"skipped {plan}: {reason}", flush=True)
            if disk in disks.KINDS and skipped == len(kinds):
                break
            continue
        passed += not result.complaints
        failed += bool(result.complaints)
        said = "FAILED" if result.complaints else "ok"
        stood = f"stood still for at most {result.worst_beat_s:.2f} s"
        print(f"{said} {plan}: {result.asked} requests, {stood}", flush=True)
        for complaint in result.complaints:
            print(f"  {complaint}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1
