"""vsftpd: two processes for each session, accounts from PAM."""

from pathlib import Path

from rig.transfer_log import XFERLOG

from .ftp_server import FtpServer
from .namespace import SERVED

_SERVICE = (
    "auth required pam_unix.so\naccount required pam_permit.so\nsession required pam_permit.so\n"
)
# What each session does by default to lock itself in: namespaces and a filter of system calls.
_TUNED = ("isolate=NO", "isolate_network=NO", "seccomp_sandbox=NO")


class Vsftpd(FtpServer):
    """Its /etc/passwd, /etc/shadow and /etc/pam.d are its own."""

    package = "vsftpd"
    log_form = XFERLOG

    def configure(self) -> None:
        accounts = self.setting.accounts
        hashes = [f"{one.user}:{one.hashed()}:19000:0:99999:7:::\n" for one in accounts]
        self.write_users([one.user for one in accounts])
        self.write("shadow", "".join(hashes))
        for name in ("empty", "pam"):
            (self.folder / name).mkdir(exist_ok=True)
        self.write("pam/vsftpd", _SERVICE)
        self.write("conf", "".join(f"{line}\n" for line in self._configuration()))

    def command(self) -> list[str]:
        return [str(self.copy.path("usr/sbin/vsftpd")), str(self.folder / "conf")]

    def mounts(self) -> dict[Path, str]:
        own = {"passwd": "/etc/passwd", "shadow": "/etc/shadow", "pam": "/etc/pam.d"}
        return super().mounts() | {self.folder / name: place for name, place in own.items()}

    def _configuration(self) -> list[str]:
        program = self.copy.path("usr/sbin/vsftpd").read_bytes()
        has_lookups = b"reverse_lookup_enable" in program  # since 3.0.4; unknown names are errors
        return [
            "listen=YES",
            f"listen_address={self.address.host}",
            f"listen_port={self.address.port}",
            "background=NO",
            *self.who(),
            "allow_writeable_chroot=YES",
            "pam_service_name=vsftpd",
            f"secure_chroot_dir={self.folder / 'empty'}",
            "max_clients=0",
            "max_per_ip=0",
            *(["reverse_lookup_enable=NO"] if has_lookups else []),
            *(_TUNED if self.setting.is_tuned else ()),
            *(["write_enable=YES"] if self.setting.is_writable else []),
            *self._logs(),
        ]

    def _logs(self) -> list[str]:
        log = self.setting.transfer_log
        form = ["xferlog_enable=YES", "xferlog_std_format=YES"]
        return [*form, f"xferlog_file={log}"] if log else []

    def who(self) -> tuple[str, ...]:
        """The lines that say who may log in."""
        return ("anonymous_enable=NO", "local_enable=YES", "chroot_local_user=YES")


class VsftpdAnonymous(Vsftpd):
    """vsftpd that lets anybody in, so that no log-in is validated."""

    def configure(self) -> None:
        super().configure()
        self.write_users(["ftp"])

    def who(self) -> tuple[str, ...]:
        return ("anonymous_enable=YES", "local_enable=NO", f"anon_root={SERVED}")
