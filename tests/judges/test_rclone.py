"""rclone: copies all that the listings name, and compares each byte."""

from judge_scene import FILES, JudgeTest, needs


@needs("rclone")
class RcloneTest(JudgeTest):
    def rclone(self, *arguments: object, status: int = 0) -> str:
        served = ("--config", "/dev/null", "--http-url", f"{self.url_with_password}/")
        return self.run_judge("rclone", *served, *arguments, status=status).stderr

    def test_copy_and_check(self) -> None:
        copy = self.work / "copy"
        self.rclone("copy", ":http:", copy)
        found = {
            str(path.relative_to(copy)): path.read_bytes()
            for path in copy.rglob("*")
            if path.is_file()
        }
        self.assertEqual(found, FILES)
        for name in FILES:
            served = (self.scene.root / name).stat().st_mtime
            self.assertEqual((copy / name).stat().st_mtime, int(served), name)
        said = self.rclone("check", "--download", ":http:", copy)
        self.assertIn("0 differences found", said)
        self.assertIn(f"{len(FILES)} matching files", said)
        (copy / "small.txt").write_bytes(FILES["small.txt"][::-1])
        said = self.rclone("check", "--download", ":http:", copy, status=1)
        self.assertIn("1 differences found", said)
