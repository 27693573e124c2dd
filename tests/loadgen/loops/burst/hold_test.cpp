#include "loadgen/loops/burst/hold.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using loadgen::burst::Hold;

// tests/lab/test_hold.py has the groups of a real kernel.
TEST_CASE("only the folder of a control group can be held", "[loadgen]") {
  const tests::TemporaryFolder folder;
  for (const std::string& wrong : {folder.path(), folder.path("none"), std::string("/dev/null")}) {
    CAPTURE(wrong);
    const auto hold = Hold::of_group(wrong);
    REQUIRE_FALSE(hold);
    CHECK(hold.error().context.rfind("--hold", 0) == 0);
    CHECK(hold.error().context.find(wrong) != std::string::npos);
  }
}

TEST_CASE("a group without processes is not held", "[loadgen]") {
  const tests::TemporaryFolder folder;
  folder.write("cgroup.freeze", "0");
  folder.write("cgroup.procs", "");
  folder.write("below/cgroup.procs", "");
  CHECK(Hold::of_group(folder.path()).error().context.find("no process") != std::string::npos);
  folder.write("below/cgroup.procs", "1\n");
  CHECK(Hold::of_group(folder.path()));
}

TEST_CASE("loadgen does not hold itself", "[loadgen]") {
  const tests::TemporaryFolder folder;
  folder.write("freezer.state", "THAWED");
  folder.write("below/cgroup.procs", "1\n" + std::to_string(::getpid()) + "\n");
  CHECK(Hold::of_group(folder.path()).error().context.find("itself") != std::string::npos);
}
