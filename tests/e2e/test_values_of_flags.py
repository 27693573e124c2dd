"""Each flag with values that are acceptable and with others, in all the places where it may be."""

from flags import FLAGS
from usage_scene import UsageScene


class ValuesTest(UsageScene):
    def bad_values(self):
        for program, flags in FLAGS.items():
            for flag in flags:
                for value in flag.bad:
                    yield program, flag, value

    def test_a_value_that_is_not_acceptable_in_a_flag(self) -> None:
        for program, flag, value in self.bad_values():
            with self.subTest(program=program, flag=flag.name, value=value):
                self.assert_wrong_usage(program, f"--{flag.name}={value}", named=flag.name)

    def test_a_value_that_is_not_acceptable_in_the_environment(self) -> None:
        for program, flag, value in self.bad_values():
            if value == "":
                continue  # an empty variable may mean that it is not set
            with self.subTest(program=program, flag=flag.name, value=value):
                self.assert_wrong_usage(
                    program, env={flag.variable(program): value}, named=flag.variable(program)
                )

    def test_a_value_that_is_not_acceptable_in_the_file(self) -> None:
        for program, flag, value in self.bad_values():
            if value != value.strip():
                continue  # blanks around a value are not part of it
            with self.subTest(program=program, flag=flag.name, value=value):
                config = self.written(f"{flag.name} = {value}\n")
                self.assert_wrong_usage(program, "--config", config, named=flag.name)

    def test_a_bad_value_is_wrong_usage_even_where_a_good_one_beats_it(self) -> None:
        for program, flags in FLAGS.items():
            for flag in flags:
                if not flag.bad:
                    continue
                with self.subTest(program=program, flag=flag.name):
                    good, bad = f"--{flag.name}={flag.good}", flag.bad[0]
                    self.assert_wrong_usage(program, good, env={flag.variable(program): bad})
                    self.assert_wrong_usage(
                        program, good, "--config", self.written(f"{flag.name} = {bad}\n")
                    )
                    self.assert_wrong_usage(
                        program,
                        "--config",
                        self.written(f"{flag.name} = {bad}\n"),
                        env={flag.variable(program): flag.good},
                    )

    def test_good_values_are_accepted_everywhere(self) -> None:
        for program, flags in FLAGS.items():
            for flag in flags:
                with self.subTest(program=program, flag=flag.name):
                    # The last value is wrong, so that the program ends. Its error must be the
                    # one that is reported.
                    config = self.written(f"{flag.name} = {flag.good}\n")
                    self.assert_wrong_usage(
                        program,
                        "--config",
                        config,
                        f"--{flag.name}",
                        flag.good,
                        "--drain-seconds",
                        "last",
                        env={flag.variable(program): flag.good},
                        named="last",
                    )
