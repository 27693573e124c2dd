"""Threads of a test: a failure in one of them is a failure of the test."""

import threading
from collections.abc import Callable

# What a thread does until the event is set.
Life = Callable[[threading.Event], None]


def run_threads(lives: list[Life], seconds: float | None = None) -> None:
    """Runs all of them, and sets their event after so many seconds, or when one fails.

    Raises the first failure once all have ended.
    """
    is_over = threading.Event()
    failures: list[BaseException] = []

    def live(life: Life) -> None:
        try:
            life(is_over)
        except BaseException as failure:
            failures.append(failure)
            is_over.set()

    threads = [threading.Thread(target=live, args=(life,)) for life in lives]
    for thread in threads:
        thread.start()
    if seconds is not None:
        is_over.wait(seconds)
        is_over.set()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
