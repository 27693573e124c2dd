"""Lets REDbot judge a URL: notes_of_redbot.py URL [FIELD: VALUE]...

It asks several times: with conditions, for a range, and with other encodings. Prints a line for
each request that it made, and one for each note: its level, and what it says. test_lint.py runs
this with the Python of `make judges`.
"""

import sys
from configparser import ConfigParser

import thor
from redbot.resource import HttpResource


def main() -> None:
    url, *fields = sys.argv[1:]
    settings = ConfigParser()
    settings.read_dict({"redbot": {"enable_local_access": "True"}})
    resource = HttpResource(settings["redbot"])
    resource.set_request(url, headers=[tuple(line.split(": ", 1)) for line in fields])

    @thor.events.on(resource)
    def check_done() -> None:
        thor.stop()

    resource.check()
    thor.run()
    for request in (resource, *resource.subreqs.values()):
        if not request.fetch_started:
            continue
        if request.fetch_error or not request.response.complete:
            sys.exit(f"{type(request).__name__}: {request.fetch_error}")
        print("answer", type(request).__name__, request.response.status_code)
        for note in request.response.notes:
            print(note.level.value, note)


if __name__ == "__main__":
    main()
