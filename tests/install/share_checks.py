"""What must hold on the host behind a section of docs/share.md."""

from asking import FILES, Check, eventually, expect, journal, refused, said
from fresh_host import CAN_MOUNT_SHARES, Host

SHARE = "https://files.example.com"
CERTIFICATE = "/etc/turnstile/tls/certificate.pem"
LOG = "/var/log/turnstile/transfers.json"
RIGHTS = "/etc/turnstile/rights"


def as_user(user: str) -> str:
    """curl as this user."""
    pair = f"sed -n 's/^\\({user}\\) /user = \\1:/p' ~/passwords"
    return f"{pair} | curl -sS -K - --cacert {CERTIFICATE} "


def status(host: Host, user: str, path: str, more: str = "") -> str:
    return said(host, as_user(user) + f"-o /dev/null -w '%{{http_code}}' {more} '{SHARE}{path}'")


def passwords_are_for_root_only(host: Host) -> None:
    expect(host, "stat -c '%U %a' ~/passwords", "root 600")
    expect(host, "turnstile-accounts list | tr '\\n' ' '", "amy ben cora")


def rights_of_cora_are_explained(host: Host) -> None:
    told = said(host, "turnstile-accounts rights cora")
    for words in ("read        /", "read write  /books", "read write  /home/cora"):
        assert f"{words}  (line " in told, told
    refused(host, "turnstile-accounts passwd cora", "turnstile-accounts: the first argument")


def a_mistake_in_the_rights_changes_nothing(host: Host) -> None:
    said(host, f"cp {RIGHTS} /tmp/rights && echo '@nobody / read' >>{RIGHTS}")
    said(host, f"systemctl reload {FILES}")
    lines = said(host, f"wc -l <{RIGHTS}")
    journal(host, FILES, f"line {lines}")
    said(host, f"cp /tmp/rights {RIGHTS} && systemctl reload {FILES}")


def each_group_has_its_part(host: Host) -> None:
    said(host, "echo 1 >/srv/turnstile/books/a.txt")
    for user, listed, written in (("amy", "404", "404"), ("ben", "200", "201")):
        assert status(host, user, "/books/") == listed, user
        assert status(host, user, "/books/a.txt") == listed, user
        made = status(host, user, f"/books/{user}.txt", "-T /etc/hostname")
        assert made == written, user
    assert status(host, "cora", "/plans/") == "200"
    assert status(host, "cora", "/plans/c.txt", "-T /etc/hostname") == "403"
    assert status(host, "cora", "/home/cora/c.txt", "-T /etc/hostname") == "201"
    assert status(host, "amy", "/home/cora/c.txt") == "404"


def the_first_file_is_there(host: Host) -> None:
    expect(host, "cat /srv/turnstile/plans/plan.txt", "Ship it.")
    refused(host, f"curl -sS -f --cacert {CERTIFICATE} {SHARE}/plans/plan.txt", "401")


def what_was_written_to_the_mount_is_there(host: Host) -> None:
    if CAN_MOUNT_SHARES:
        eventually(host, "grep -qx 'Ship it today.' /srv/turnstile/plans/plan.txt")


def who_may_only_read_was_refused_in_the_mount(host: Host) -> None:
    if CAN_MOUNT_SHARES:
        wrong = '"user":"cora","method":"LOCK","status":403,"name":"plans/new.txt"'
        said(host, f"grep -qF '{wrong}' {LOG}")
        expect(host, "ls /srv/turnstile/plans", "plan.txt")


def the_log_names_the_user(host: Host) -> None:
    said(host, f'grep -q \'"user":"amy"\' {LOG}')
    expect(host, f"stat -c '%U %a' {LOG}", "turnstile 640")


def who_leaves_is_out_at_once(host: Host) -> None:
    assert status(host, "cora", "/plans/plan.txt") == "200"
    said(host, "turnstile-accounts remove cora")
    assert status(host, "cora", "/plans/plan.txt") == "401"


OF_SECTIONS: dict[str, list[Check]] = {
    "Three users": [passwords_are_for_root_only],
    "Two groups": [rights_of_cora_are_explained, a_mistake_in_the_rights_changes_nothing],
    "The first file": [the_first_file_is_there, each_group_has_its_part],
    "Mount it": [
        what_was_written_to_the_mount_is_there,
        who_may_only_read_was_refused_in_the_mount,
    ],
    "Who did what": [the_log_names_the_user],
    "How far the servers are locked in": [who_leaves_is_out_at_once],
}
