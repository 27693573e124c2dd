"""What --version says of the commit: packaging/commit."""

import os
import shutil
import subprocess
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


if __name__ == "__main__":
    unittest.main()
