"""`lab run scale-out` for real: one of three hosts behind haproxy is lost."""

from scale_out_scene import ScaleOutScene


class LostHostTest(ScaleOutScene):
    def test_a_lost_host_moves_its_own_names_and_the_others_answer(self):
        folder = self.run_lab("--stages", "scale-out-3-lost", "--seconds", "15", "--threads", "24")
        (row,) = self.rows(folder).values()
        self.assertEqual(float(row["names_moved"]), float(row["names_of_lost"]))
        self.assertNotIn("was not lost", row["failures"])
        self.assertNotIn("failed before", row["failures"])
        (sample,) = folder.glob("samples/*run1-trial1.json*")
        self.assertTrue(sample.stat().st_size)
        figures = {one.name for one in (folder / "figures").iterdir()}
        self.assertIn("series-scale-out-3-lost-10KB-hosts.svg", figures)
