"""The flags of the programs, with their defaults and with good and bad values.

The tests fail if `--help=all` of a program shows a flag that is not listed here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    name: str
    default: str | None  # as --help=all shows it; None: none, or it depends on the machine
    good: str
    bad: tuple[str, ...] = ()

    def variable(self, program: str) -> str:
        """The environment variable of the flag."""
        return f"{program}_{self.name}".upper().replace("-", "_")


BAD_ADDRESS = (
    "127.0.0.1",
    "127.0.0.1:",
    ":9000",
    "127.0.0.1:65536",
    "127.0.0.1:-1",
    "127.0.0.1:x",
    "a b:1",
    "127.0.0.1:80 ",
    "::1:80",
    "unix:",
    "unix:relative.sock",
    "unix:/" + 107 * "a",
    "",
)
BAD_SECONDS = ("-1", "x", "1s", "nan", "inf", "1,5", " 1", "0x1", "1e99")
BAD_SIZE = ("-1", "x", "1k", "1T", "1KB", "K", "1.5M", " 1", "99999999999G", "1 M", "0x10")
BAD_NUMBER = ("-1", "x", "1.5", "1e3", " 3", "99999999999999999999", "0x10")  # 0 is good
BAD_COUNT = ("0", *BAD_NUMBER)
BAD_USER = ("a b", "a:b", "x" * 65)


def _choice(name: str, default: str, *others: str) -> Flag:
    return Flag(name, default, others[0], ("fish", default.upper(), default + " ", default[:-1]))


BOTH = (
    Flag("max-connections", "4096", "7", BAD_COUNT),
    Flag("idle-timeout", "60", "1.5", BAD_SECONDS),
    Flag("drain-seconds", "5", "0", BAD_SECONDS),
    Flag("debuggable", None, "true", ("fish",)),
    Flag("user", None, "root", ("a:b", "")),
    Flag("telemetry-listen", "off", "127.0.0.1:0", BAD_ADDRESS),
    _choice("log-level", "info", "debug", "warn", "error"),
)

FLAGS = {
    "authserver": (
        Flag("listen", "127.0.0.1:9001", "127.0.0.1:0", BAD_ADDRESS),
        Flag("tls-listen", "off", "off", BAD_ADDRESS),
        Flag("tls-certificate", None, "a.pem"),
        Flag("tls-key", None, "a.pem"),
        Flag("tls-handshakes", "512", "7", BAD_COUNT),
        Flag("tls-client-ca", None, "a.pem"),
        _choice("model", "thread", "process"),
        _choice("store-connection", "persistent", "per-request"),
        Flag("store-timeout", "2", "3", BAD_SECONDS),
        _choice("password-scheme", "argon2id", "plain"),
        Flag("sqlite-path", "accounts.db", "a.db"),
        Flag("verified-memo", "900", "1.5", BAD_SECONDS),
        Flag("hashes-at-once", "0", "2", BAD_NUMBER),
        Flag("spare-workers", "32", "0", BAD_NUMBER),
        _choice("sandbox", "on", "off"),
        Flag("export", None, "a.csv"),
        Flag("import", None, "a.csv"),
        Flag("list-accounts", None, "a.txt"),
        Flag("add-account", None, "a", BAD_USER),
        Flag("remove-account", None, "a", BAD_USER),
        Flag("set-password", None, "a", BAD_USER),
        Flag("disable-account", None, "a", BAD_USER),
        Flag("enable-account", None, "a", BAD_USER),
        Flag("make-admin", None, "a", BAD_USER),
        Flag("unmake-admin", None, "a", BAD_USER),
        Flag("invite", None, "a", BAD_USER),
        Flag("create-store", None, "true", ("fish",)),
        *BOTH,
    ),
    "fileserver": (
        Flag("listen", "127.0.0.1:9000", "127.0.0.1:0", BAD_ADDRESS),
        _choice("model", "thread", "process", "event"),
        Flag("http-listen", "off", "127.0.0.1:0", BAD_ADDRESS),
        Flag("https-listen", "off", "off", BAD_ADDRESS),
        Flag("tls-listen", "off", "off", BAD_ADDRESS),
        Flag("tls-certificate", None, "a.pem"),
        Flag("tls-key", None, "a.pem"),
        Flag("tls-handshakes", "512", "7", BAD_COUNT),
        _choice("tls-kernel", "off", "on"),
        Flag("trash", "0", "30", (*BAD_NUMBER, "36501")),
        _choice("listings", "on", "off"),
        _choice("uploads", "off", "folder", "sink"),
        Flag("max-upload", "0", "5M", BAD_SIZE),
        Flag("parts-keep", "86400", "3", BAD_SECONDS),
        Flag("auth", "127.0.0.1:9001", "localhost:1", (*BAD_ADDRESS, "tls:a:x", "tls:unix:/a")),
        Flag("auth-ca", None, "a.pem"),
        Flag("auth-certificate", None, "a.pem"),
        Flag("auth-key", None, "a.pem"),
        _choice("auth-connection", "persistent", "per-request"),
        Flag("auth-timeout", "5", "3", BAD_SECONDS),
        Flag("wrong-passwords", "10", "3", BAD_NUMBER),
        Flag("wrong-password-addresses", "65536", "100", BAD_NUMBER),
        Flag("accounts-per-address", "100", "3", BAD_NUMBER),
        _choice("new-accounts", "open", "closed"),
        Flag("rights", None, "/dev/null"),
        Flag("show-rights", None, "a", BAD_USER),
        Flag("locks-of", None, "123", ("0", "-1", "01", "a", "99999999999", "")),
        Flag("end-lock", None, "/a", ("a", "uuid:a", "/\x01", "")),
        Flag(
            "share-name",
            None,
            "Müller & <Söhne>",
            ("a\tb", "\x7f", "a\u0085b", "a\u202eb", " a", "a ", "x" * 65, "ä" * 65),
        ),
        Flag("trusted-proxy", None, "10.0.0.0/8, ::1, unix", ("10.0.0.0/33", "x", "::1,")),
        Flag("http-host", None, "files.example.com, a-b", ("a:80", "", "http://a", "a,", "*")),
        Flag("root", "files", "a"),
        _choice("files", "prefetch", "disk"),
        Flag("memory-limit", None, "5M", BAD_SIZE),
        _choice("evict", "on", "off"),
        Flag("read-size", "64K", "4K", ("0", "511", "17M", *BAD_SIZE)),
        _choice("read-ahead", "on", "off"),
        Flag("send-buffer", "0", "16K", ("2G", *BAD_SIZE)),
        Flag("transfer-log", None, "a.json"),
        Flag("transfer-log-queue", "16384", "100", BAD_COUNT),
        _choice("transfer-log-users", "off", "on"),
        Flag("spare-threads", "32", "0", BAD_NUMBER),
        Flag("loops", "0", "3", (*BAD_NUMBER, "1025")),
        Flag("min-rate", "0", "5K", BAD_SIZE),
        _choice("sandbox", "on", "strict", "off"),
        *BOTH,
    ),
}

# Flags of authserver that only one of the stores uses.
STORES = (
    Flag("store", "sqlite", "sqlite", ("fish", "SQLite", "")),
    _choice("mysql-tls", "off", "on"),
    _choice("redis-tls", "off", "on"),
    *(
        Flag(name, None, "x")
        for name in (
            "mysql-host",
            "mysql-port",
            "mysql-socket",
            "mysql-user",
            "mysql-password",
            "mysql-password-file",
            "mysql-database",
            "mysql-tls-ca",
            "mysql-server-public-key",
            "redis-host",
            "redis-port",
            "redis-socket",
            "redis-password",
            "redis-password-file",
            "redis-database",
            "redis-primary",
            "redis-tls-ca",
        )
    ),
    Flag("redis-sentinel", None, "127.0.0.1:26379,[::1]:1", ("a", "a:0", "a:1,", "a:65536", "")),
    Flag("redis-wait", "0", "2", BAD_NUMBER),
)

LOADGEN = (
    Flag("server", "127.0.0.1:9000", "127.0.0.1:1", BAD_ADDRESS),
    _choice("protocol", "native", "http", "ftp"),
    _choice("ftp-data", "epsv", "pasv"),
    Flag("tls-ca", None, "ca.pem"),
    _choice("tls-resume", "on", "off"),
    Flag("threads", "1", "2", BAD_COUNT),
    Flag("think", None, "exp:0.5", ("exp", "fixed:0", "exp:-1", "1", "exp:1s")),
    Flag("seconds", "10", "1.5", BAD_SECONDS),
    Flag("requests", None, "2", BAD_COUNT),
    Flag("life", None, "20.5", BAD_SECONDS),
    Flag("start-at", None, "1790000000.5", ("0", "-1", "x", "1790000000000")),
    Flag("share", None, "1/1", ("0/1", "2/1", "1", "1/", "/1", "-1/2", "1/2/3", "1/x", " 1/2")),
    Flag("rate", None, "1.5", ("0", "-1", "x", "1e9")),
    Flag("pace", None, "1.5", ("0", "-1", "x", "1e9")),
    _choice("arrivals", "fixed", "poisson"),
    Flag("telemetry", "off", "127.0.0.1:9", BAD_ADDRESS),
    Flag("mix", None, "get:9,new:1", ("get", "get:0", "x:1", "get:1,get:1")),
    Flag("files", None, "2", BAD_COUNT),
    Flag("popularity", "uniform", "zipf:1", ("zipf", "zipf:-1", "x")),
    Flag("seed", "1", "2", ("-1", "1.5", "x")),
    _choice("release", "request", "transfer"),
    Flag("warmup", "0", "1.5", BAD_SECONDS),
    Flag("users", None, "2", BAD_COUNT),
    Flag("ramp", "10", "1.5", BAD_SECONDS),
    Flag("until-stable", "20", "1.5", BAD_SECONDS),
    Flag("receive-buffer", "4096", "8K", BAD_SIZE),
    Flag("least-rate", "75", "80", BAD_COUNT),
    _choice("too-slow", "drop", "fail"),
    _choice("engine", "epoll", "poll", "sigio", "io_uring"),
    Flag("signal-queue", None, "1024", BAD_COUNT),
    _choice("connection", "per-request", "keep-alive"),
    Flag("channels", None, "2", ("0", "-1", "65", "x")),
    Flag("pool", "8M", "2M", BAD_SIZE),
    _choice("write", "in-order", "in-place"),
    Flag("accounts", "1", "1", BAD_COUNT),
    Flag("timeout", "30", "1.5", BAD_SECONDS),
    *(
        Flag(name, None, "x")
        for name in (
            "pipeline",
            "tls",
            "tls-insecure",
            "size",
            "user",
            "password",
            "file",
            "unique",
            "once",
            "verify",
            "verify-root",
            "save",
            "hold",
            "transfers",
            "series",
            "distribution",
            "json",
        )
    ),
)


# Flags that need a path. --transfer-log and --mysql-socket take an empty text, which is none.
PATHS = {
    "authserver": (
        "sqlite-path",
        "export",
        "import",
        "mysql-password-file",
        "mysql-tls-ca",
        "mysql-server-public-key",
        "redis-password-file",
    ),
    "fileserver": ("root", "rights"),
    "loadgen": ("verify-root", "save", "transfers", "distribution", "json"),
}


# A flag in --help=all: "  --root DIR  [files]  FILESERVER_ROOT".
_SHOWN = re.compile(
    r"^  --([a-z-]+)(?:[ \[]\S+)*?(?:  \[(?P<default>[^=\]]+)\])?(?:  (?P<variable>[A-Z_]+))?$",
    re.MULTILINE,
)


def shown(help_text: str) -> dict[str, tuple[str, str]]:
    """The flags in the text of --help=all, each with its default and its variable.

    What a flag does not have is an empty text. Requires: the text is not wrapped in those lines.
    """
    return {
        match[1]: (match["default"] or "", match["variable"] or "")
        for match in _SHOWN.finditer(help_text)
    }


def not_shown(help_text: str, program: str, flags: Iterable[Flag]) -> list[str]:
    """The flags that have no line in the help with their default and their variable."""
    found = shown(help_text)
    return [flag.name for flag in flags if not _is_shown(found, program, flag)]


def unlisted(help_text: str, flags: Iterable[Flag]) -> list[str]:
    """The flags in the help that are not among `flags`."""
    listed = {"help", "version", "config", *(flag.name for flag in flags)}
    return [name for name in shown(help_text) if name not in listed]


def _is_shown(found: dict[str, tuple[str, str]], program: str, flag: Flag) -> bool:
    default, variable = found.get(flag.name, ("", ""))
    return variable == flag.variable(program) and flag.default in (None, default)
