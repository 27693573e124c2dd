"""What must hold on the host behind a section of docs/install.md."""

from asking import AUTH, FILES, Check, eventually, expect, journal, pid_of, refused, said
from fresh_host import Host

LOG = "/var/log/turnstile/transfers.json"
SETTINGS = "/etc/turnstile/fileserver.conf"
ACCOUNTS = "/var/lib/turnstile/accounts.db"
FETCH = "sed -n 's/^\\(amy\\) /user = \\1:/p' ~/first-passwords | curl -s -f -K - "
HELLO = "http://127.0.0.1:8080/hello.txt"
# More than it is, so that a new version of systemd may look at one thing more. 10 is everything.
MOST_EXPOSED = 20  # tenths


def programs_are_stripped(host: Host) -> None:
    for program in ("authserver", "fileserver", "loadgen"):
        expect(host, f"readelf -S $(command -v {program}) | grep -c symtab || true", "0")
        said(host, f"{program} --version")


def manuals_are_there(host: Host) -> None:
    for page in ("authserver", "fileserver", "loadgen", "turnstile-accounts"):
        # Containers of Debian leave manual pages out that come in packages.
        packaged = host.run(f"dpkg -L turnstile | grep -q /{page}.[18].gz").returncode == 0
        assert packaged or page in said(host, f"man {page} | cat"), page


def units_are_sound(host: Host) -> None:
    units = f"$(systemctl show --property FragmentPath --value {AUTH} {FILES})"
    expect(host, f"systemd-analyze verify --man=no {units}", "")
    for unit in (AUTH, FILES):
        said(host, f"systemd-analyze security --no-pager --threshold={MOST_EXPOSED} {unit}")


def settings_name_every_flag(host: Host) -> None:
    flags = "sed -n 's/^# *\\([a-z-]*\\) = .*/\\1/p; s/^\\([a-z-]*\\) = .*/\\1/p'"
    for server in ("authserver", "fileserver"):
        for flag in ("listen", "max-connections", "sandbox", "telemetry-listen"):
            said(host, f"{flags} /etc/turnstile/{server}.conf | grep -qxF {flag}")


def servers_run_as_their_users(host: Host) -> None:
    for unit, user in ((AUTH, "turnstile-auth"), (FILES, "turnstile")):
        expect(host, f"systemctl is-active {unit}", "active")
        uid = f"sed -n 's/^Uid:.\\([0-9]*\\).*/\\1/p' /proc/{pid_of(host, unit)}/status"
        expect(host, uid, said(host, f"id -u {user}"))


def status_says_what_is_served(host: Host) -> None:
    expect(host, f"systemctl show --property Type --value {FILES}", "notify")
    status = said(host, f"systemctl show --property StatusText --value {FILES}")
    assert status == "READY 127.0.0.1:9000 http=127.0.0.1:8080", status


def sandboxes_are_on(host: Host) -> None:
    for unit in (AUTH, FILES):
        journal(host, unit, 'info sandbox restricts="files, TCP and system calls"')
        expect(host, f"grep -c 'Seccomp:.2' /proc/{pid_of(host, unit)}/status", "1")
        expect(host, f"sed -n 's/^CapBnd:.//p' /proc/{pid_of(host, unit)}/status", "0" * 16)


def nobody_else_reaches_the_accounts(host: Host) -> None:
    refused(host, f"cat {ACCOUNTS}", "denied", user="turnstile")
    refused(host, "ls /run/turnstile", "denied", user="nobody")
    refused(host, "turnstile-accounts list", "sudo turnstile-accounts list", user="nobody")


def a_mistake_in_the_settings_is_not_tried_again(host: Host) -> None:
    said(host, f"cp {SETTINGS} /tmp/saved && echo 'rot = /srv' >>{SETTINGS}")
    refused(host, f"systemctl restart {FILES}", "failed")
    journal(host, FILES, "there is no flag rot")
    expect(host, f"systemctl show --property NRestarts --value {FILES}", "0")
    said(host, f"cp /tmp/saved {SETTINGS}; systemctl reset-failed {FILES}; systemctl start {FILES}")


def a_server_that_dies_comes_back(host: Host) -> None:
    for unit in (AUTH, FILES):
        before = pid_of(host, unit)
        said(host, f"kill -KILL {before}")
        state = f"systemctl show --property MainPID,ActiveState {unit} | tr '\\n' ' '"
        eventually(host, f"{state} | grep -v -w -e 0 -e {before} | grep -q =active")


def accounts_stay_those_of_the_authserver(host: Host) -> None:
    expect(host, "find /var/lib/turnstile ! -user turnstile-auth", "")
    expect(host, f"stat -c %a {ACCOUNTS}", "600")
    expect(host, "turnstile-accounts list | wc -l", "10")
    expect(host, "stat -c %a ~/first-passwords", "600")
    said(host, "printf 'new one\\n' | turnstile-accounts password amy")
    refused(host, FETCH + HELLO, "")
    said(host, "sed -n 's/^amy //p' ~/first-passwords | turnstile-accounts password amy")
    expect(host, FETCH + HELLO, "hello")


def nobody_can_create_an_account(host: Host) -> None:
    body = '{"user": "eva", "password": "x"}'
    code = "curl -s -o /dev/null -w '%{http_code}'"
    expect(host, f"{code} -d '{body}' http://127.0.0.1:8080/-/accounts", "403")


def uploads_work_when_they_are_allowed(host: Host) -> None:
    said(host, f"echo 'uploads = folder' >>{SETTINGS} && systemctl restart {FILES}")
    said(host, FETCH + "-T LICENSE http://127.0.0.1:8080/up.txt")
    expect(host, "stat -c '%U' /srv/turnstile/up.txt", "turnstile")
    said(host, f"sed -i /^uploads/d {SETTINGS} && systemctl restart {FILES}")


def the_log_was_rotated(host: Host) -> None:
    before = pid_of(host, FILES)
    said(host, f"test -s {LOG}.1")
    journal(host, FILES, "the transfer log was opened again")
    said(host, FETCH + HELLO)
    eventually(host, f"grep -q hello.txt {LOG}")
    expect(host, f"stat -c '%U %a' {LOG}", "turnstile 640")
    assert pid_of(host, FILES) == before


def a_reload_without_a_log_changes_nothing(host: Host) -> None:
    said(host, f"cp {SETTINGS} /tmp/saved && sed -i /^transfer-log/d {SETTINGS}")
    said(host, f"systemctl restart {FILES}")
    before = pid_of(host, FILES)
    said(host, f"systemctl reload {FILES}")
    journal(host, FILES, "there is nothing to open or to read again")
    assert pid_of(host, FILES) == before
    said(host, f"cp /tmp/saved {SETTINGS} && systemctl restart {FILES}")


def the_backup_is_for_root_only(host: Host) -> None:
    expect(host, "stat -c %a /var/backups/turnstile", "700")
    expect(host, "wc -l </var/backups/turnstile/accounts.csv", "10")
    expect(host, "sqlite3 /var/backups/turnstile/accounts.db 'SELECT count(*) FROM accounts'", "10")
    # What is lost now, the restore brings back.
    said(host, "turnstile-accounts remove amy && rm /srv/turnstile/hello.txt")


def all_is_there_again(host: Host) -> None:
    servers_run_as_their_users(host)
    accounts_stay_those_of_the_authserver(host)


def changed_settings_stay(host: Host) -> None:
    said(host, f"grep -qx 'trusted-proxy = 127.0.0.1' {SETTINGS}")
    all_is_there_again(host)


def servers_end_in_order(host: Host) -> None:
    said(host, f"systemctl stop {FILES} {AUTH}")
    for unit in (AUTH, FILES):
        expect(host, f"systemctl show --property Result --value {unit}", "success")
        journal(host, unit, "info stopped connections=")
    said(host, f"systemctl start {AUTH} {FILES}")


def only_what_is_the_administrators_is_left(host: Host) -> None:
    gone = "find / -xdev -name '*turnstile*' -newer /etc/hostname"
    ours = "-e ^/root -e ^/proc -e ^/var/lib/systemd -e ^/var/log/journal -e ^/etc/nginx"
    ours += " -e ^/ccache -e ^/var/backups -e ^/srv/turnstile$"
    left = "/etc/turnstile\n/var/lib/turnstile\n/var/log/turnstile"
    expect(host, f"{gone} | grep -v {ours} | sort", left.replace("\\n", "\n"))
    expect(host, "ls /etc/turnstile", "fileserver.conf\ntls")  # the other one was not changed


def only_the_served_files_are_left(host: Host) -> None:
    expect(host, "dpkg-query -W -f '${Status}' turnstile 2>&1 | grep -c installed || true", "0")
    folders = "/var/lib /var/log /run /etc/systemd/system/*.wants"
    expect(host, f"ls {folders} | grep -x -e turnstile -e 'turnstile-.*service' || true", "")
    expect(host, "ls /etc/turnstile", "tls")  # which the page has made
    said(host, "test -e /srv/turnstile/hello.txt")


def lintian_finds_nothing(host: Host) -> None:
    """It comes after the package was made, because it brings dpkg-dev, which that needs."""
    said(host, "apt-get -q install -y --no-install-recommends lintian")
    expect(host, "lintian --allow-root --fail-on error,warning build/turnstile_*.deb", "")


OF_SECTIONS: dict[str, list[Check]] = {
    "From source": [programs_are_stripped, manuals_are_there],
    "From the package": [lintian_finds_nothing, programs_are_stripped, manuals_are_there],
    "First start": [
        units_are_sound,
        settings_name_every_flag,
        servers_run_as_their_users,
        status_says_what_is_served,
        sandboxes_are_on,
        nobody_else_reaches_the_accounts,
        a_mistake_in_the_settings_is_not_tried_again,
        a_server_that_dies_comes_back,
    ],
    "Ten accounts": [
        accounts_stay_those_of_the_authserver,
        nobody_can_create_an_account,
        uploads_work_when_they_are_allowed,
    ],
    "Rotation of the log": [the_log_was_rotated, a_reload_without_a_log_changes_nothing],
    "Backup": [the_backup_is_for_root_only],
    "Restore": [all_is_there_again],
    "Upgrade": [changed_settings_stay, servers_end_in_order],
}
