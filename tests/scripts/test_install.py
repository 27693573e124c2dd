"""make install, make uninstall, make deb and its SBOM, below a folder.

tests/install has them on a real host.

The folder of the programs is the PREFIX, without DESTDIR, wherever units and scripts must find what
they name.
"""

import gzip
import hashlib
import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from host import NOBODY, PROJECT, ScriptTest, run, why_not_root
from needs import missing

BUILD = Path(os.environ.get("TURNSTILE_BUILD", PROJECT / "build"))
PROGRAMS = ("authserver", "fileserver", "loadgen")
UNITS = ("turnstile-authserver", "turnstile-fileserver")
TASKS = {f"{task}-account" for task in ("add", "remove", "disable", "enable")}
TASKS |= {"set-password", "list-accounts", "make-admin", "unmake-admin", "invite"}
TASKS |= {"export", "import", "create-store"}
# What systemd 252 says is 10 or 11; 100 is a unit without any protection.
MOST_EXPOSED = 20


# The programs, stripped once for all tests, because that takes longest.
STRIPPED = tempfile.TemporaryDirectory()


def setUpModule() -> None:
    for name in PROGRAMS:
        run("strip", "-o", f"{STRIPPED.name}/{name}", BUILD / name)


def tearDownModule() -> None:
    STRIPPED.cleanup()


class InstallTest(ScriptTest):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        self.prefix = self.folder / "usr"
        self.etc = self.folder / "etc"

    def packaging(self, task: str, **variables: str | Path) -> subprocess.CompletedProcess[str]:
        where = {"PREFIX": self.prefix, "SYSCONFDIR": self.etc, "BUILD": STRIPPED.name}
        where |= variables
        done = run(PROJECT / "packaging/install", task, env={**os.environ, **where})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done

    def files(self) -> list[str]:
        return sorted(str(path) for path in self.folder.rglob("*") if not path.is_dir())

    def accounts(self, *arguments: str | Path, start: list[str] | None = None, **options):
        words = [*(start or []), self.prefix / "bin/turnstile-accounts", *arguments]
        return run(*words, **options)


class FilesTest(InstallTest):
    def test_destdir_is_before_every_path_and_in_no_file(self) -> None:
        where = {"PREFIX": "/usr/local", "SYSCONFDIR": "/etc", "DESTDIR": str(self.folder)}
        self.packaging("install", **where)
        listed = self.packaging("list", **where).stdout.split()
        self.assertEqual(self.files(), sorted(listed))
        for name in ("usr/local/bin", "etc/turnstile", "usr/local/lib/systemd/system"):
            self.assertTrue((self.folder / name).is_dir(), name)
        naming = run("grep", "-rlF", self.folder, self.folder).stdout
        self.assertEqual(naming, "")

    def test_uninstall_leaves_nothing(self) -> None:
        self.packaging("install")
        # A page that came with an earlier version.
        (self.prefix / "share/doc/turnstile/lab.md").write_text("# The lab\n")
        self.packaging("uninstall")
        self.assertEqual(self.files(), [])
        named = [path.name for path in self.folder.rglob("*turnstile*")]
        self.assertEqual(named, [])

    def test_changed_settings_stay_when_it_is_installed_again_or_removed(self) -> None:
        self.packaging("install")
        settings = self.etc / "turnstile/fileserver.conf"
        settings.write_text("root = /srv/other\n")
        self.packaging("install")
        self.packaging("uninstall")
        self.assertEqual(self.files(), [str(settings)])
        self.assertEqual(settings.read_text(), "root = /srv/other\n")

    def test_a_narrow_umask_hides_nothing(self) -> None:
        former = os.umask(0o077)
        self.addCleanup(os.umask, former)
        self.packaging("install")
        for path in [self.prefix, *self.prefix.rglob("*"), *self.etc.rglob("*")]:
            self.assertEqual(path.stat().st_mode & 0o044, 0o044, path)

    def test_programs_are_stripped_and_start(self) -> None:
        self.packaging("install", BUILD=BUILD)
        for name in PROGRAMS:
            program = self.prefix / "bin" / name
            self.assertNotIn(".symtab", run("readelf", "--wide", "-S", program).stdout)
            self.assertIn(name, run(program, "--version").stdout)

    @unittest.skipIf(missing("man"), missing("man"))
    def test_each_program_has_a_manual_page_without_a_mistake(self) -> None:
        self.packaging("install")
        pages = sorted((self.prefix / "share/man").rglob("*.gz"))
        self.assertEqual(len(pages), len(PROGRAMS) + 2)
        for page in pages:
            done = run("man", "--warnings", "-l", page, env={**os.environ, "MANROFFOPT": ""})
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            self.assertIn("NAME", done.stdout)
            title = gzip.decompress(page.read_bytes()).decode().splitlines()[0].split()
            name, section, _ = page.name.split(".")
            self.assertEqual(title[:3], [".TH", name.upper(), section])


class PagesTest(InstallTest):
    def setUp(self) -> None:
        super().setUp()
        self.packaging("install")
        self.docs = self.prefix / "share/doc/turnstile"

    def test_they_are_for_who_has_a_share_and_not_the_sources(self) -> None:
        names = {path.name for path in self.docs.iterdir()}
        self.assertLessEqual({"SECURITY.md", "install.md", "share.md", "troubleshooting.md"}, names)
        self.assertEqual([name for name in names if name.startswith("lab")], [])
        self.assertEqual(names & {"README.md", "architecture.md", "checks.md", "docker.md"}, set())

    def test_each_link_leads_to_a_file_that_is_installed(self) -> None:
        lost, count = [], 0
        for page in self.docs.rglob("*.md"):
            for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
                if not re.match("[a-z]+:", target):
                    count += 1
                    lost += [] if (page.parent / target).exists() else [(page.name, target)]
        self.assertEqual(lost, [])
        self.assertGreater(count, 100)

    def test_no_word_of_a_page_is_lost_but_links(self) -> None:
        def words(page: Path) -> list[str]:
            text = re.sub(r"!?\[([^][]*)\]\([^()\s]+\)", r"\1", page.read_text())
            return text.split()

        for page in self.docs.rglob("*.md"):
            source = PROJECT / "docs" / page.relative_to(self.docs)
            if page.name == "SECURITY.md":
                source = PROJECT / page.name
            self.assertEqual(words(page), words(source), page)

    def test_what_changed_is_there_under_the_name_of_debian(self) -> None:
        text = gzip.decompress((self.docs / "changelog.gz").read_bytes())
        self.assertEqual(text, (PROJECT / "CHANGELOG.md").read_bytes())


class SettingsTest(InstallTest):
    def test_the_programs_take_them_and_their_comments_name_every_flag(self) -> None:
        self.packaging("install")
        for name in ("authserver", "fileserver"):
            settings = self.etc / f"turnstile/{name}.conf"
            done = run(self.prefix / "bin" / name, "--config", settings, "--version")
            self.assertEqual(done.returncode, 0, done.stderr)
            named = set(re.findall(r"(?m)^(?:# )?([a-z-]+) =", settings.read_text()))
            flags = set(re.findall(r"(?m)^ +--([a-z-]+)", run(BUILD / name, "--help=all").stdout))
            # These are no settings.
            self.assertLessEqual(flags - named, {"help", "version", "config", *TASKS})
            self.assertLessEqual(named, flags)


class UnitsTest(InstallTest):
    def setUp(self) -> None:
        super().setUp()
        self.packaging("install")
        self.units = [self.prefix / f"lib/systemd/system/{unit}.service" for unit in UNITS]

    @unittest.skipIf(missing("systemd-analyze"), missing("systemd-analyze"))
    def test_systemd_finds_no_mistake(self) -> None:
        done = run("systemd-analyze", "verify", "--man=no", *self.units)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipIf(missing("systemd-analyze"), missing("systemd-analyze"))
    def test_they_are_hardly_exposed(self) -> None:
        for unit in self.units:
            flags = ("--offline=yes", "--no-pager", f"--threshold={MOST_EXPOSED}")
            done = run("systemd-analyze", "security", *flags, unit)
            if "unrecognized option '--offline" in done.stderr:
                self.skipTest("this systemd-analyze needs a running systemd")
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_both_give_up_the_same(self) -> None:
        given_up = [unit.read_text().partition("\nNoNewPrivileges")[2] for unit in self.units]
        self.assertTrue(given_up[0])
        self.assertEqual(given_up[0], given_up[1])

    def test_what_pages_and_files_name_as_a_unit_is_one(self) -> None:
        texts = [*(PROJECT / "docs").rglob("*.md"), *(PROJECT / "docs/fail2ban").iterdir()]
        texts += [path for path in (PROJECT / "packaging").rglob("*") if path.is_file()]
        for path in texts:
            for name in re.findall(r"\b([\w-]*(?:file|auth)server)\.service", path.read_text()):
                self.assertIn(name, UNITS, path)


class RotationTest(InstallTest):
    @unittest.skipIf(missing("logrotate"), missing("logrotate"))
    @unittest.skipIf(why_not_root(), why_not_root())
    def test_logrotate_renames_the_log_and_reloads_the_server(self) -> None:
        self.packaging("install")
        logs, called = self.folder / "logs", self.folder / "called"
        logs.mkdir()
        (logs / "transfers.json").write_text("{}\n")
        systemctl = self.folder / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$@" >>{called}\n')
        systemctl.chmod(0o755)
        text = (self.etc / "logrotate.d/turnstile").read_text()
        # The user of an installation is not there.
        text = text.replace("su turnstile turnstile", "su root root")
        rules = self.folder / "rules"
        rules.write_text(text.replace("/var/log/turnstile", str(logs)))
        path = f"{self.folder}:{os.environ['PATH']}"
        done = run(
            "logrotate",
            "--force",
            "--state",
            self.folder / "state",
            rules,
            env={**os.environ, "PATH": path},
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([file.name for file in logs.iterdir()], ["transfers.json.1"])
        self.assertEqual(called.read_text().splitlines()[-1], "reload turnstile-fileserver")


class AccountsTest(InstallTest):
    def setUp(self) -> None:
        super().setUp()
        self.packaging("install")
        self.store = self.folder / "store"
        self.store.mkdir()
        settings = self.etc / "turnstile/authserver.conf"
        settings.write_text(f"sqlite-path = {self.store}/accounts.db\n")
        # nobody stands for the authserver's user, whom only an installation has.
        self.script = self.prefix / "bin/turnstile-accounts"
        text = self.script.read_text().replace("owner=turnstile-auth", "owner=nobody")
        self.script.write_text(text)

    def add(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        words = [str(self.script), "add", "amy", *arguments]
        return subprocess.run(words, input="pw\n", capture_output=True, text=True, check=False)

    @unittest.skipIf(why_not_root(), why_not_root())
    def test_root_changes_the_installed_store_as_the_user_of_the_authserver(self) -> None:
        os.chown(self.store, pwd.getpwnam("nobody").pw_uid, -1)
        self.assertEqual(self.add("--create-store").returncode, 0)
        owners = {path.owner() for path in self.store.iterdir()}
        self.assertEqual(owners, {"nobody"})
        done = self.accounts("list", cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr), ("amy\n", ""))

    @unittest.skipIf(why_not_root(), why_not_root())
    def test_other_users_are_told_that_it_is_for_root(self) -> None:
        as_daemon = ["setpriv", "--reuid=1", "--regid=1", "--clear-groups"]
        done = self.accounts("list", start=as_daemon)
        self.assert_one_line(done, 1, "sudo turnstile-accounts list")
        done = self.accounts("list", start=NOBODY)  # the user of the store itself
        self.assertNotIn("sudo", done.stderr)

    def test_a_caller_who_names_settings_gets_only_those(self) -> None:
        own = self.folder / "own.conf"
        own.write_text(f"sqlite-path = {self.folder}/own.db\n")
        done = self.add("--create-store", "--config", str(own))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.folder}/own.db", done.stdout + done.stderr)


@unittest.skipIf(missing("openssl"), missing("openssl"))
class CertificateTest(InstallTest):
    """The folder is as certbot lays it out: its names are links to the newest files."""

    def setUp(self) -> None:
        super().setUp()
        self.packaging("install")
        self.live, self.archive = self.folder / "live/a.example", self.folder / "archive/a.example"
        for folder in (self.live, self.archive):
            folder.mkdir(parents=True)
        self.called = self.folder / "called"
        systemctl = self.folder / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$@" >>{self.called}\n')
        systemctl.chmod(0o755)

    def issue(self, number: int) -> None:
        """A certificate and its key, as the newest ones."""
        made = self.folder / f"made{number}"
        run(PROJECT / "scripts/make-certificates", made, "a.example")
        for name, kind in (("a.example.pem", "fullchain"), ("a.example-key.pem", "privkey")):
            (self.archive / f"{kind}{number}.pem").write_bytes((made / name).read_bytes())
            link = self.live / f"{kind}.pem"
            link.unlink(missing_ok=True)
            link.symlink_to(f"../../archive/a.example/{kind}{number}.pem")

    def renewed(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        owner = {"TURNSTILE_USER": pwd.getpwuid(self.owner()).pw_name}
        variables = {**os.environ, **path, **owner, **variables}
        return run(self.prefix / "bin/turnstile-certificate", *words, env=variables)

    @staticmethod
    def owner() -> int:
        """Who stands for the user of the fileserver, whom only an installation has."""
        return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()

    def given(self) -> list[bytes]:
        folder = self.etc / "turnstile/tls"
        return [(folder / name).read_bytes() for name in ("certificate.pem", "key.pem")]

    def newest(self) -> list[bytes]:
        return [(self.live / f"{kind}.pem").read_bytes() for kind in ("fullchain", "privkey")]

    def test_each_renewal_of_certbot_is_given_to_the_server(self) -> None:
        for number in (1, 2):
            self.issue(number)
            done = self.renewed(RENEWED_LINEAGE=str(self.live), RENEWED_DOMAINS="a.example")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(self.given(), self.newest())
            last = self.called.read_text().splitlines()[-1]
            self.assertEqual(last, "reload turnstile-fileserver")
        folder = self.etc / "turnstile/tls"
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
        self.assertEqual(modes, {"certificate.pem": 0o444, "key.pem": 0o400})
        self.assertEqual((folder / "key.pem").stat().st_uid, self.owner())

    def test_a_key_of_another_certificate_changes_nothing(self) -> None:
        self.issue(1)
        pair = [self.live / "fullchain.pem", self.live / "privkey.pem"]
        self.assertEqual(self.renewed(*pair).returncode, 0)
        first = self.given()
        self.issue(2)
        reloads = self.called.read_text()
        done = self.renewed(pair[0], self.archive / "privkey1.pem")
        self.assert_one_line(done, 1, "privkey1.pem is not the key of")
        self.assert_one_line(self.renewed(pair[1], pair[1]), 1, "has no certificate")
        self.assertEqual((self.given(), self.called.read_text()), (first, reloads))
        self.assertEqual(self.renewed().returncode, 2)


class DebWithoutToolTest(ScriptTest):
    def test_the_package_with_the_missing_program_is_named_in_one_line(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("bash", "dirname"):
            (folder / name).symlink_to(str(shutil.which(name)))
        done = run(PROJECT / "packaging/deb", env={"PATH": str(folder), "VERSION": "1.2.3"})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr,
            "deb: dpkg-shlibdeps is not installed; run make setup, or apt-get install dpkg-dev\n",
        )


@unittest.skipIf(missing("dpkg-shlibdeps"), missing("dpkg-shlibdeps"))
class DebTest(InstallTest):
    """The package is made once for all tests, as one of a release."""

    package: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.package = cls.make_deb(Path(folder.name))

    def test_it_has_what_make_install_installs(self) -> None:
        listing = run("dpkg-deb", "--contents", self.package).stdout
        packed = {"/" + path for path in re.findall(r" \./(\S*[^/\s])$", listing, re.MULTILINE)}
        where = {"PREFIX": "/usr", "SYSCONFDIR": "/etc", "DESTDIR": ""}
        listed = set(self.packaging("list", **where).stdout.split())
        self.assertLessEqual(listed, packed)
        self.assertEqual({Path(path).parts[1] for path in packed}, {"etc", "usr"})
        self.assertEqual(set(re.findall(r"(?m)^\S+ (\S+)", listing)), {"root/root"})

    @unittest.skipIf(missing("lintian"), missing("lintian"))
    def test_lintian_finds_nothing(self) -> None:
        flags = ("--allow-root", "--fail-on", "error,warning")
        done = run("lintian", *flags, self.package)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_its_sbom_names_what_the_programs_are_linked_with(self) -> None:
        done = run(PROJECT / "packaging/sbom", self.package)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        bom = json.loads(done.stdout)
        self.assertEqual((bom["bomFormat"], bom["specVersion"]), ("CycloneDX", "1.5"))
        parts = {part["name"]: part for part in bom["components"]}
        needs = {row["ref"]: set(row["dependsOn"]) for row in bom["dependencies"]}
        self.assertEqual(len(parts), len(bom["components"]))
        self.assertEqual(set(needs), {"turnstile", *PROGRAMS} | set(needs) & set(parts))
        self.assertLessEqual(set().union(*needs.values()), set(parts))
        self.assertEqual(needs["turnstile"], set(PROGRAMS))
        # dpkg-shlibdeps names the same packages, some of them by what they provide.
        field = run("dpkg-deb", "--field", self.package, "Depends").stdout
        depends = set(re.findall(r"(?:^|, )(lib[a-z0-9.+-]+|zlib1g)\b", field))
        loaded = {name for name, part in parts.items() if "loaded" in str(part.get("properties"))}
        self.assertLessEqual({name.split("-fmt")[0] for name in depends}, loaded)
        compiled_in = {"nlohmann-json3-dev", "libcli11-dev"}
        self.assertLessEqual(compiled_in, needs["loadgen"])
        self.assertTrue(needs["authserver"] & {"libsodium-dev", "libsodium23"})
        for name in set(parts) - set(PROGRAMS):
            part = parts[name]
            version = run("dpkg-query", "--show", "--showformat=${Version}\n", name).stdout
            self.assertEqual(part["version"], version.split()[0])
            self.assertIn(f"/{name}@", part["purl"])
            self.assertTrue(part["licenses"][0]["license"]["name"])
        for name in PROGRAMS:
            (sum_of_program,) = parts[name]["hashes"]
            content = Path(STRIPPED.name, name).read_bytes()
            self.assertEqual(sum_of_program["content"], hashlib.sha256(content).hexdigest())

    @staticmethod
    def make_deb(build: Path) -> Path:
        for name in PROGRAMS:
            (build / name).symlink_to(f"{STRIPPED.name}/{name}")
        variables = {"BUILD": str(build), "VERSION": "1.2.3", "DISTRIBUTION": "debian12"}
        done = run(PROJECT / "packaging/deb", env={**os.environ, **variables})
        assert done.returncode == 0, done.stderr
        (package,) = build.glob("turnstile_1.2.3-1+debian12_*.deb")
        return package
