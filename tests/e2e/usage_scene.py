"""Programs that are started with wrong usage, and a config file for them."""

from pathlib import Path

from programs import run
from scene import SceneTest


class UsageScene(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.config = self.scene.folder / "server.conf"

    def assert_wrong_usage(
        self, program: str, *arguments: object, env: dict[str, str] | None = None, named: str = ""
    ) -> None:
        ended = run(program, *arguments, env=env)
        self.assertEqual(ended.returncode, 2, (arguments, env, ended.stderr))
        self.assertEqual(ended.stdout, "")
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assertTrue(ended.stderr.startswith(f"{program}: "), ended.stderr)
        self.assertIn(named, ended.stderr)

    def written(self, text: str) -> Path:
        self.config.write_text(text)
        return self.config
