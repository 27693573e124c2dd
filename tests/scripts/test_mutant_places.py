"""Where a mutation of the kept list is: how the functions of C++ and of Python are found."""

import sys
import tempfile
import unittest
from pathlib import Path

MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
sys.path.append(str(MUTANTS))

from functions import Function, functions  # noqa: E402
from place import Mutation, Sources  # noqa: E402

from rig.errors import Failed  # noqa: E402

CPP = """\
#include "a.h"  // { no brace
namespace a::b {
namespace {
constexpr int kTable[] = {1, 2};
const std::function<int()> kOne{[] { return 1; }};
template <typename T, int N = (3 > 2)>
  requires(N > 0)
constexpr T twice(T value) { return value * 2; }
}  // namespace

enum class Kind { kOne };

class CAPABILITY("mutex") Box final : public Base<int> {
 public:
  explicit Box(int size) noexcept : size_{size}, other_(twice(size)) { fill(); }
  ~Box() = default;
  bool operator==(const Box& other) const { return size_ == other.size_; }
  int operator()(int by) const REQUIRES(mutex_) { return size_ / by; }
  explicit operator bool() const { return size_ > 0; }
  struct Part {
    int size() const { return '{'; }
  };

 private:
  int size_ = 3;
};

auto Box::text() const -> std::string { return R"({)"; }
consteval int never() { return 1; }
extern "C" int __wrap_it(char** words) {
  if (words) { return 1'000; }
  return 2;
}
}  // namespace a::b
"""

PYTHON = """\
LIMIT = 3


class Run:
    @property
    def size(self) -> int:
        return 4


def total(*runs: Run) -> int:
    return sum(run.size for run in runs)
"""


class FunctionsTest(unittest.TestCase):
    def test_of_cpp_it_finds_each_function_by_its_classes(self) -> None:
        found = {one.name: one for one in functions("a.cpp", CPP)}
        names = "kOne twice Box::Box Box::operator== Box::operator() Box::operator bool"
        names += "|Box::Part::size Box::text __wrap_it"
        self.assertEqual(" ".join(found).replace("bool ", "bool|"), names)
        self.assertTrue(found["twice"].is_constexpr)
        bodies = {name: CPP[one.body : one.end] for name, one in found.items()}
        self.assertEqual(bodies["kOne"], "{ return 1; }")
        self.assertEqual(bodies["Box::Box"], "{ fill(); }")
        self.assertEqual(bodies["Box::Part::size"], "{ return '{'; }")
        self.assertEqual(bodies["Box::text"], '{ return R"({)"; }')
        self.assertTrue(bodies["__wrap_it"].endswith("return 2;\n}"))

    def test_of_python_it_finds_methods_with_their_decorators(self) -> None:
        size, total = functions("a.py", PYTHON)
        self.assertEqual((size.name, total.name), ("Run.size", "total"))
        self.assertTrue(PYTHON[size.begin : size.end].startswith("    @property\n"))
        self.assertTrue(PYTHON[size.begin : size.end].endswith("return 4\n"))

    def test_a_function_is_called_by_the_end_of_its_name(self) -> None:
        one = Function("Box::Part::size", 0, 0, 0)
        for name in ("size", "Part::size", "Box::Part::size"):
            self.assertTrue(one.is_called(name), name)
        self.assertFalse(one.is_called("ize"))


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


class PlaceTest(InAFolder):
    def test_the_text_is_found_in_its_function_though_others_have_it_too(self) -> None:
        text = "int a() { return 1; }\nint b() { return 1; }\n"
        self.write("lib/a.cpp", text)
        place = self.sources().place_of(
            Mutation("m", "lib/a.cpp", "return 1", "return 2", (), False, "b")
        )
        self.assertEqual(place.changed(text), "int a() { return 1; }\nint b() { return 2; }\n")

    def test_the_function_may_have_moved_to_another_file_of_the_folder(self) -> None:
        self.write("lib/a.cpp", "int a() { return 1; }\n")
        self.write("lib/b.h", "struct B {\n  int b() { return 1; }\n};\n")
        mutation = Mutation("m", "lib/a.cpp", "return 1", "return 2", (), False, "B::b")
        self.assertEqual(self.sources().place_of(mutation).file, "lib/b.h")

    def test_a_text_that_is_not_there_once_is_told_with_its_function(self) -> None:
        self.write("lib/a.cpp", "int a() { return 1 + 1; }\n")
        for old, times in (("1", 2), ("3", 0)):
            mutation = Mutation("m", "lib/a.cpp", old, "2", (), False, "a")
            with self.assertRaisesRegex(
                Failed, rf"m: .* in a\(\) of lib/a.cpp once.* {times} times"
            ):
                self.sources().place_of(mutation)
