"""How mutations are put into one build: copies of the bodies of functions, one of which runs."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from needs import missing

MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
sys.path.append(str(MUTANTS))

from copies import number_of, plan, point_of  # noqa: E402
from functions import functions  # noqa: E402
from place import Mutation, Sources  # noqa: E402

PROGRAM = """\
#include <cstdio>
struct Sum {
  explicit Sum(int value) : value_(value) { ++value_; }
  int value_;
};
constexpr int half(int number) { return number / 2; }
static_assert(half(8) == 4);
void say(int number) {
  static int times = 0;
  std::printf("%d %d;", ++times, number);
}
int main(int count, char**) {
  say(half(count * 8));
  say(Sum(1).value_);
}
"""


class InAFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-copies-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def sources(self) -> Sources:
        return Sources(self.folder)


class PlanTest(InAFolder):
    def test_what_no_body_contains_has_a_build_of_its_own_or_needs_none(self) -> None:
        self.write("lib/a.cpp", "constexpr int kSize = 3;\nA::A() : a_(4) { b(5); }\n")
        self.write("lab/a.py", "SIZE = 3\n")
        self.write("bench/peers/a.cpp", "int main() { return 3; }\n")
        mutations = [
            Mutation("constant", "lib/a.cpp", "3", "4"),
            Mutation("member", "lib/a.cpp", "4", "5", (), False, "A::A"),
            Mutation("body", "lib/a.cpp", "a_(4) { b(5)", "a_(4) { b(6)"),
            Mutation("python", "lab/a.py", "3", "4"),
            Mutation("not-linked-with-the-library", "bench/peers/a.cpp", "3", "4"),
        ]
        made = plan(mutations, self.sources())
        self.assertEqual(list(made.chosen), ["body"])
        compiled = ["constant", "member", "not-linked-with-the-library"]
        self.assertEqual([one.name for one in made.compiled], compiled)
        self.assertEqual([one.name for one in made.replaced], ["python"])


@unittest.skipIf(missing("g++"), missing("g++"))
class CopiesTest(InAFolder):
    """The copies are compiled, and run."""

    def build(self, *mutations: Mutation) -> None:
        self.write("lib/a.cpp", PROGRAM)
        sources = self.sources()
        made = plan(mutations, sources).files(sources, ["lib/a.cpp"])
        self.write("copies/a.cpp", made["lib/a.cpp"])
        for name in ("point.h", "point.cpp"):
            self.write(f"tests/mutants/{name}", (MUTANTS / name).read_text())
        point, program = self.folder / "tests/mutants/point", self.folder / "program"
        command = ["g++", "-std=c++20", "-w", "-include", f"{point}.h", f"-I{self.folder}"]
        command += ["-o", str(program), str(self.folder / "copies/a.cpp"), f"{point}.cpp"]
        subprocess.run(command, check=True)

    def run_it(self, variables: dict[str, str]) -> str:
        return subprocess.run(
            [self.folder / "program"],
            env=os.environ | variables,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def test_each_mutation_is_chosen_when_the_program_starts(self) -> None:
        self.build(
            Mutation("twice", "lib/a.cpp", "++value_;", "value_ += 2;"),
            Mutation("third", "lib/a.cpp", "number / 2", "number / 4"),
            Mutation("silent", "lib/a.cpp", 'std::printf("%d %d;", ++times, number);', ""),
            Mutation("leaves-early", "lib/a.cpp", "say(half", "return 0;\n  say(half"),
        )
        said = {
            name: self.run_it({"TURNSTILE_MUTATION": str(number_of(name))})
            for name in ("none", "twice", "third", "silent", "leaves-early")
        }
        self.assertEqual(said["none"], "1 4;2 2;")
        self.assertEqual(said["twice"], "1 4;2 3;")
        self.assertEqual(said["third"], "1 2;2 2;")
        self.assertEqual((said["silent"], said["leaves-early"]), ("", ""))
        self.assertEqual(self.run_it({}), "1 4;2 2;")

    def test_the_functions_that_were_entered_are_in_a_file(self) -> None:
        self.build(Mutation("silent", "lib/a.cpp", "say(half(count * 8));", ""))
        reached = self.folder / "reached"
        reached.write_bytes(bytes(1 << 20))
        self.run_it({"TURNSTILE_REACHED": str(reached)})
        found = {at for at, byte in enumerate(reached.read_bytes()) if byte}
        entered = [one for one in functions("lib/a.cpp", PROGRAM) if not one.is_constexpr]
        self.assertEqual([one.name for one in entered], ["Sum::Sum", "say", "main"])
        self.assertEqual(found, {point_of("lib/a.cpp", one) for one in entered})
