"""A scene for rclone as a client of WebDAV."""

from judge_scene import PASSWORD, USER, JudgeTest


class RcloneTest(JudgeTest):
    def rclone(self, *arguments: object, status: int = 0) -> str:
        done = self.run_judge("rclone", *self.rclone_flags(), *arguments, status=status)
        return done.stdout + done.stderr

    def rclone_flags(self) -> tuple[str, ...]:
        obscured = self.run_judge("rclone", "--config", "/dev/null", "obscure", PASSWORD).stdout
        return (
            *("--config", "/dev/null", "--webdav-url", f"{self.url}/", "--webdav-user", USER),
            *("--webdav-pass", obscured.strip()),
        )
