"""wget: resume, newer files only, and a folder with all below it."""

import os

from judge_scene import FILES, LARGE, PASSWORD, USER, JudgeTest, needs


@needs("wget")
class WgetTest(JudgeTest):
    def wget(self, *arguments: object, status: int = 0) -> str:
        """Returns what it says, with the heads of the answers."""
        account = ("--user", USER, "--password", PASSWORD)
        return self.run_judge("wget", "-S", *account, *arguments, status=status).stderr

    def test_resume_gets_the_rest_on_the_connection_of_the_401(self) -> None:
        (self.work / "large.bin").write_bytes(LARGE[:1000])
        said = self.wget("-c", f"{self.url}/large.bin")
        self.assertIn("401 Unauthorized", said)
        self.assertIn("Reusing existing connection", said)
        self.assertIn("206 Partial Content", said)
        self.assertEqual((self.work / "large.bin").read_bytes(), LARGE)

    def test_resume_of_a_whole_file_leaves_it(self) -> None:
        (self.work / "large.bin").write_bytes(LARGE)
        self.assertIn("416 Range Not Satisfiable", self.wget("-c", f"{self.url}/large.bin"))
        self.assertEqual((self.work / "large.bin").read_bytes(), LARGE)

    def test_only_newer(self) -> None:
        url = f"{self.url}/small.txt"
        self.wget("-N", url)
        copy, original = self.work / "small.txt", self.scene.root / "small.txt"
        self.assertEqual(copy.stat().st_mtime, int(original.stat().st_mtime))
        self.assertIn("304 Not Modified", self.wget("-N", url))
        os.utime(copy, (1, 1))
        self.assertIn("200 OK", self.wget("-N", url))
        self.assertEqual(copy.read_bytes(), FILES["small.txt"])

    def test_a_folder_with_all_below_it_and_nothing_above(self) -> None:
        self.wget("-r", "-np", "-nH", f"{self.url}/sub/")
        found = {str(path.relative_to(self.work)) for path in self.work.rglob("*")}
        expected = {name: content for name, content in FILES.items() if name.startswith("sub/")}
        folders = {"sub", "sub/deep", "sub/index.html", "sub/deep/index.html"}
        self.assertEqual(found, {*expected, *folders})
        for name, content in expected.items():
            self.assertEqual((self.work / name).read_bytes(), content, name)
