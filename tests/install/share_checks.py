"""What must hold on the host behind a section of docs/share.md."""

from asking import FILES, Check, eventually, expect, journal, pid_of, refused, said
from fresh_host import CAN_MOUNT_SHARES, Host
from install_checks import units_are_sound

SHARE = "https://files.example.com"
CERTIFICATE = "/etc/turnstile/tls/certificate.pem"
LOG = "/var/log/turnstile/transfers.json"
KEY = "/etc/turnstile/tls/key.pem"
RIGHTS = "/etc/turnstile/rights"
# What a client is shown. The address is that of this host.
SERVED = "openssl s_client -connect files.example.com:443 </dev/null 2>/dev/null | "
SERVED += "openssl x509 -noout -fingerprint"
MADE = "openssl x509 -noout -fingerprint -in"
BIND_LOW_PORTS = 1 << 10


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


def the_server_alone_reads_the_key(host: Host) -> None:
    expect(host, f"stat -c '%U %a' {KEY}", "turnstile 400")
    refused(host, f"cat {KEY}", "denied", user="nobody")
    refused(host, f"cat {KEY}", "denied", user="turnstile-auth")


def it_serves_https_with_one_capability_in_its_sandbox(host: Host) -> None:
    shown = said(host, f"systemctl show --property StatusText --value {FILES}")
    wanted = "READY 127.0.0.1:9000 http=127.0.0.1:8080 https=0.0.0.0:443"
    assert shown == wanted, shown
    for kind in ("CapBnd", "CapEff", "CapPrm"):
        expect(
            host,
            f"sed -n 's/^{kind}:.//p' /proc/{pid_of(host, FILES)}/status",
            f"{BIND_LOW_PORTS:016x}",
        )
    journal(host, FILES, 'info sandbox restricts="files, TCP and system calls"')
    units_are_sound(host)


def a_renewed_certificate_is_served_by_the_same_process(host: Host) -> None:
    """The folder is as certbot has it, and certbot calls the command so."""
    before = pid_of(host, FILES)
    scripts = "scripts/make-certificates /tmp/made files.example.com"
    names = "live/x/fullchain.pem live/x/privkey.pem"
    said(
        host,
        f"{scripts}; cd /tmp; mkdir -p live/x archive/x; cd archive/x;"
        " cp /tmp/made/files.example.com.pem fullchain1.pem;"
        " cp /tmp/made/files.example.com-key.pem privkey1.pem; cd /tmp;"
        f" for name in {names}; do ln -s ../../archive/x/$(basename $name .pem)1.pem $name; done;"
        " cd live/x; RENEWED_LINEAGE=/tmp/live/x sh -c turnstile-certificate",
    )
    eventually(host, f'[ "$({SERVED})" = "$({MADE} /tmp/live/x/fullchain.pem)" ]')
    # What the page has made is what the rest of the page trusts.
    said(host, "turnstile-certificate ~/certificate.pem ~/key.pem")
    eventually(host, f'[ "$({SERVED})" = "$({MADE} ~/certificate.pem)" ]')
    assert pid_of(host, FILES) == before


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
    "HTTPS": [
        the_server_alone_reads_the_key,
        it_serves_https_with_one_capability_in_its_sandbox,
        a_renewed_certificate_is_served_by_the_same_process,
    ],
    "The first file": [the_first_file_is_there, each_group_has_its_part],
    "Mount it": [
        what_was_written_to_the_mount_is_there,
        who_may_only_read_was_refused_in_the_mount,
    ],
    "Who did what": [the_log_names_the_user],
    "How far the servers are locked in": [who_leaves_is_out_at_once],
}
