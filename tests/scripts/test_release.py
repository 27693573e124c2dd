"""What --version says of the commit, and what make release makes without Docker.

test_install has the SBOM, because it makes a package. The step `release` of the full gate makes all
in containers.
"""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from host import PROJECT, ScriptTest, run
from needs import missing

COMPILED = ("Makefile", "sql", "lib", "authserver", "fileserver", "loadgen")
AUTHOR = {
    f"GIT_{who}_{what}": "amy@host" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


# A make that runs these tests has no jobs for another one.
WITHOUT_MAKE = {
    name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
}


@unittest.skipIf(missing("git"), missing("git"))
class CommitTest(ScriptTest):
    """In a small clone that has the real script and the real Makefile."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.clone = self.folder / "clone"
        for name in ("packaging/commit", "Makefile", ".gitattributes"):
            (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, self.clone / name)
        script = self.clone / "packaging/commit"  # in an archive the commit is in it already
        text = re.sub("(?m)^archived=.*", "archived='$Format:%H$'", script.read_text())
        script.write_text(text)
        for name in set(COMPILED) - {"Makefile"}:
            (self.clone / name).mkdir()
            (self.clone / name / "source.cpp").write_text("int one;\n")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=First")
        self.head = self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        done = run("git", *words, cwd=self.clone, env={**os.environ, **AUTHOR})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def commit(self, top: Path, **variables: str) -> str:
        done = run(top / "packaging/commit", cwd="/", env={**os.environ, **variables})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def unpacked(self, parent: Path) -> Path:
        parent.mkdir(exist_ok=True)
        archive = subprocess.run(
            ["git", "archive", "--prefix=sources/", "HEAD"],
            cwd=self.clone,
            capture_output=True,
            check=True,
        )
        subprocess.run(["tar", "-x", "-C", parent], input=archive.stdout, check=True)
        return parent / "sources"

    def test_a_clone_says_its_commit_and_whether_what_is_compiled_was_changed(self) -> None:
        self.assertEqual(self.commit(self.clone), self.head[:12])
        (self.clone / "README.md").write_text("Read this.\n")
        (self.clone / "packaging/commit").touch()
        self.assertEqual(self.commit(self.clone), self.head[:12])
        (self.clone / "lib/source.cpp").write_text("int two;\n")
        self.assertEqual(self.commit(self.clone), f"{self.head[:12]}, changed")

    def test_an_archive_says_its_own_also_in_another_clone_and_without_git(self) -> None:
        for parent in (self.folder / "anywhere", self.clone / "build"):
            self.assertEqual(self.commit(self.unpacked(parent)), self.head[:12])
        (self.clone / "lib/source.cpp").write_text("int two;\n")
        self.git("commit", "--quiet", "--all", "--message=Second")
        self.assertEqual(self.commit(self.clone / "build/sources"), self.head[:12])
        bare = self.folder / "bare"
        bare.mkdir()
        for name in ("sh", "dirname"):
            (bare / name).symlink_to(str(shutil.which(name)))
        self.assertEqual(self.commit(self.clone / "build/sources", PATH=str(bare)), self.head[:12])
        self.assertEqual(self.commit(self.clone, PATH=str(bare)), "")

    def test_a_copy_without_its_clone_says_nothing(self) -> None:
        copy = self.clone / "build" / "copy"  # in a clone that is not its own
        shutil.copytree(self.clone / "packaging", copy / "packaging")
        self.assertEqual(self.commit(copy), "")

    def test_a_commit_changes_what_one_object_is_made_of_and_nothing_else(self) -> None:
        made = self.clone / "build/generated"
        target = [f"build/generated/{name}.h" for name in ("version", "source_commit")]

        def make(*words: str) -> str:
            done = run("make", *words, "UNITY=", *target, cwd=self.clone, env=WITHOUT_MAKE)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return (made / "source_commit.h").read_text()

        self.assertEqual(make(), f'#define TURNSTILE_COMMIT "{self.head[:12]}"\n')
        before = [path.stat().st_mtime_ns for path in sorted(made.iterdir())]
        make()
        self.assertEqual([path.stat().st_mtime_ns for path in sorted(made.iterdir())], before)
        (self.clone / "lib/source.cpp").write_text("int two;\n")
        self.git("commit", "--quiet", "--all", "--message=Second")
        second = self.git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(make(), f'#define TURNSTILE_COMMIT "{second}"\n')
        self.assertEqual((made / "version.h").stat().st_mtime_ns, before[1])
        self.assertEqual(make("COMMIT=of-an-image"), '#define TURNSTILE_COMMIT "of-an-image"\n')
        shutil.rmtree(self.clone / "packaging")  # as where an image is built
        self.assertEqual(make(), '#define TURNSTILE_COMMIT ""\n')


# What a docker does that has the images of Debian, and can pull none.
ONLY_DEBIAN = "case $1 in image) case $3 in debian:*) exit ;; esac; exit 1 ;; pull) exit 1 ;; esac"


@unittest.skipIf(missing("git"), missing("git"))
@unittest.skipIf(not (PROJECT / ".git").exists(), "these sources are no clone")
class SourcesTest(ScriptTest):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_the_archive_has_what_head_has_and_can_be_built(self) -> None:
        done = run(
            PROJECT / "packaging/release", "--sources", env={**os.environ, "OUT": str(self.folder)}
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.folder)
        (archive,) = self.folder.glob("turnstile-*.tar.gz")
        self.assertEqual(checked.stdout, f"{archive.name}: OK\n")
        with tarfile.open(archive) as opened:
            names = sorted(one.name for one in opened if not one.isdir())
            opened.extractall(self.folder)
        top = archive.name.removesuffix(".tar.gz")
        head = run("git", "ls-tree", "-rz", "--name-only", "HEAD", cwd=PROJECT).stdout.split("\0")
        self.assertEqual(names, sorted(f"{top}/{name}" for name in head if name))
        self.assertEqual([name for name in names if ".git/" in name], [])
        commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=PROJECT).stdout
        sources = self.folder / top
        self.assertEqual(run(sources / "packaging/commit").stdout, commit)
        # All that it needs is there. The full gate compiles it, in containers.
        done = run("make", "--dry-run", "all", "build/unit_tests", cwd=sources, env=WITHOUT_MAKE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def release(self, *words: str, docker: str) -> subprocess.CompletedProcess[str]:
        """With a program in the place of docker."""
        program = self.folder / "bin/docker"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{docker}\n")
        program.chmod(0o755)
        path = f"{program.parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "OUT": str(self.folder / "out")}
        return run(PROJECT / "packaging/release", *words, env=environment)

    def test_each_distribution_is_given_the_sources_and_gives_its_package_and_sbom(self) -> None:
        made = (
            f"{ONLY_DEBIAN}\n"
            f"cd {self.folder} && tar -tz | grep -c /Makefile$ >&2\n"
            'name=turnstile_1-1+$(echo "$*" | sed -n "s/.*DISTRIBUTION=\\([^ ]*\\) .*/\\1/p")\n'
            'echo "$*" >$name.deb; touch $name.cdx.json; tar -c $name.*'
        )
        done = self.release(docker=made)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(path.name for path in (self.folder / "out").iterdir())
        kinds = ("cdx.json", "deb")
        packages = [f"turnstile_1-1+debian1{n}.{kind}" for n in (2, 3) for kind in kinds]
        self.assertEqual(names[2:], packages)
        self.assertEqual(names[0], "SHA256SUMS")
        self.assertIn("ubuntu24.04 is left out", done.stdout)
        checked = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.folder / "out")
        self.assertEqual((checked.returncode, checked.stdout.count(": OK\n")), (0, 5))

    def test_a_package_that_fails_leaves_no_checksums(self) -> None:
        done = self.release("debian12", docker=f"{ONLY_DEBIAN}\ncat >/dev/null; exit 3")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.folder / "out/SHA256SUMS").exists())

    def test_a_distribution_without_its_image_is_named(self) -> None:
        done = self.release("debian13", docker="exit 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("debian13: no Docker engine answers, or it has no image", done.stderr)

    def test_a_distribution_that_is_not_known_is_wrong_usage(self) -> None:
        done = run(
            PROJECT / "packaging/release", "debian11", env={**os.environ, "OUT": str(self.folder)}
        )
        self.assert_one_line(done, 2, "debian11")
        self.assertEqual(list(self.folder.iterdir()), [])
