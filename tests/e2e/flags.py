"""The flags of the programs as the contract lists them: name, default as --help shows it, and a value of each kind."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    name: str
    default: str | None  # None: none is promised, or it depends on the machine
    good: str
    bad: tuple[str, ...]

    def variable(self, program: str) -> str:
        return f"{program}_{self.name}".upper().replace("-", "_")


BAD_ADDRESS = (
    "9000",
    "127.0.0.1",
    "127.0.0.1:",
    ":9000",
    "127.0.0.1:65536",
    "127.0.0.1:-1",
    "127.0.0.1:x",
    "a b:1",
    "127.0.0.1:80 ",
    "::1:80",
    "",
)
BAD_SECONDS = ("-1", "x", "1s", "nan", "inf", "1,5", " 1", "0x1", "1e99")
BAD_SIZE = ("-1", "x", "1k", "1T", "1KB", "K", "1.5M", " 1", "99999999999G", "1 M", "0x10")
BAD_COUNT = ("0", "-1", "x", "1.5", "1e3", " 3", "99999999999999999999", "0x10")


def _choice(name: str, default: str, *others: str) -> Flag:
    return Flag(name, default, others[0], ("fish", default.upper(), default + " ", default[:-1]))


BOTH = (
    Flag("max-connections", "4096", "7", BAD_COUNT),
    Flag("idle-timeout", "60", "1.5", BAD_SECONDS),
    Flag("drain-seconds", "5", "0", BAD_SECONDS),
    _choice("log-level", "info", "debug", "warn", "error"),
)

FLAGS = {
    "authserver": (
        Flag("listen", "127.0.0.1:9001", "127.0.0.1:0", BAD_ADDRESS),
        _choice("model", "thread", "process"),
        _choice("store-connection", "persistent", "per-request"),
        Flag("store-timeout", "2", "3", BAD_SECONDS),
        _choice("password-scheme", "argon2id", "plain"),
        Flag("sqlite-path", "accounts.db", "a.db", ()),
        *BOTH,
    ),
    "fileserver": (
        Flag("listen", "127.0.0.1:9000", "127.0.0.1:0", BAD_ADDRESS),
        Flag("auth", "127.0.0.1:9001", "localhost:1", BAD_ADDRESS),
        _choice("auth-connection", "persistent", "per-request"),
        Flag("auth-timeout", "5", "3", BAD_SECONDS),
        Flag("root", "files", "a", ()),
        _choice("files", "prefetch", "disk"),
        Flag("memory-limit", None, "5M", BAD_SIZE),
        *BOTH,
    ),
}

STORES = (
    Flag("store", "sqlite", "sqlite", ("fish", "SQLite", "")),
    *(
        Flag(name, None, "x", ())
        for name in (
            "mysql-host",
            "mysql-port",
            "mysql-socket",
            "mysql-user",
            "mysql-password",
            "mysql-password-file",
            "mysql-database",
            "redis-host",
            "redis-port",
            "redis-password",
            "redis-password-file",
            "redis-database",
        )
    ),
)
