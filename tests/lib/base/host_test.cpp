#include "base/host.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

}  // namespace

TEST_CASE("without a control group the machine's own limits hold", "[base]") {
  const tests::TemporaryFolder host;
  CHECK(base::usable_cores(host.path()) >= 1);
  CHECK(base::usable_memory_bytes(host.path()) > 64 * kMiB);
}

TEST_CASE("a control group of version 2 limits cores and memory", "[base]") {
  const tests::TemporaryFolder host;
  host.write("proc/self/cgroup", "0::/inner\n");
  host.write("sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
  host.write("sys/fs/cgroup/inner/memory.max", "67108864\n");
  CHECK(base::usable_cores(host.path()) == 0.5);
  CHECK(base::usable_memory_bytes(host.path()) == 64 * kMiB);
}

TEST_CASE("\"max\" is no limit", "[base]") {
  const tests::TemporaryFolder host;
  const tests::TemporaryFolder unlimited;
  host.write("proc/self/cgroup", "0::/inner\n");
  host.write("sys/fs/cgroup/inner/cpu.max", "max 100000\n");
  host.write("sys/fs/cgroup/inner/memory.max", "max\n");
  CHECK(base::usable_cores(host.path()) == base::usable_cores(unlimited.path()));
  CHECK(base::usable_memory_bytes(host.path()) == base::usable_memory_bytes(unlimited.path()));
}

TEST_CASE("of nested control groups the lowest limit counts", "[base]") {
  const tests::TemporaryFolder host;
  host.write("proc/self/cgroup", "0::/outer/middle/inner\n");
  host.write("sys/fs/cgroup/outer/cpu.max", "25000 100000\n");
  host.write("sys/fs/cgroup/outer/middle/memory.max", "33554432\n");
  host.write("sys/fs/cgroup/outer/middle/inner/cpu.max", "50000 100000\n");
  host.write("sys/fs/cgroup/outer/middle/inner/memory.max", "67108864\n");
  CHECK(base::usable_cores(host.path()) == 0.25);
  CHECK(base::usable_memory_bytes(host.path()) == 32 * kMiB);
}

TEST_CASE("control groups of version 1 limit cores and memory, nested ones too", "[base]") {
  const tests::TemporaryFolder host;
  host.write("proc/self/cgroup",
             "4:memory:/outer/inner\n3:cpuset:/\n2:cpu,cpuacct:/outer/inner\n1:name=systemd:/x\n");
  host.write("sys/fs/cgroup/cpu/outer/cpu.cfs_quota_us", "50000\n");
  host.write("sys/fs/cgroup/cpu/outer/cpu.cfs_period_us", "100000\n");
  host.write("sys/fs/cgroup/cpu/outer/inner/cpu.cfs_quota_us", "-1\n");
  host.write("sys/fs/cgroup/cpu/outer/inner/cpu.cfs_period_us", "100000\n");
  host.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  host.write("sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "67108864\n");
  host.write("sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(base::usable_cores(host.path()) == 0.5);
  CHECK(base::usable_memory_bytes(host.path()) == 64 * kMiB);
}

TEST_CASE("a container that sees its own group as the root finds its limits", "[base]") {
  const tests::TemporaryFolder host;
  for (const char* group : {"0::/\n", "0::/docker/4f1c\n", "0::/../..\n", ""}) {
    CAPTURE(group);
    host.write("proc/self/cgroup", group);
    host.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
    host.write("sys/fs/cgroup/memory.max", "67108864\n");
    CHECK(base::usable_cores(host.path()) == 0.5);
    CHECK(base::usable_memory_bytes(host.path()) == 64 * kMiB);
  }
}

TEST_CASE("the system and each control group leave room for threads", "[base]") {
  const tests::TemporaryFolder host;
  const auto room = [&host] { return base::room_for_threads(host.path()); };
  host.write("proc/loadavg", "0.25 0.10 0.05 2/30 4567\n");
  host.write("proc/sys/kernel/threads-max", "42\n");
  CHECK(room().count == 12);
  CHECK(room().limit == "kernel.threads-max is 42");
  host.write("proc/sys/kernel/pid_max", "41\n");
  CHECK(room().count == 11);
  CHECK(room().limit == "kernel.pid_max is 41");
  host.write("proc/self/cgroup", "0::/outer/inner\n");
  host.write("sys/fs/cgroup/outer/pids.max", "20\n");
  host.write("sys/fs/cgroup/outer/pids.current", "10\n");
  host.write("sys/fs/cgroup/outer/inner/pids.max", "max\n");
  CHECK(room().count == 10);
  CHECK(room().limit == "pids.max of the control group is 20");
  host.write("proc/self/cgroup", "4:pids:/one\n");
  host.write("sys/fs/cgroup/pids/one/pids.max", "7\n");
  host.write("sys/fs/cgroup/pids/one/pids.current", "9\n");
  CHECK(room().count == 0);
  CHECK(room().limit == "pids.max of the control group is 7");
}

TEST_CASE("numbers are read from the start of a file", "[base]") {
  const tests::TemporaryFolder folder;
  folder.write("two", "32768\t60999\n");
  folder.write("word", "max 100000\n");
  CHECK(base::numbers_in(folder.path("two")) == std::vector<std::int64_t>{32768, 60999});
  CHECK(base::number_in(folder.path("two"), 7) == 32768);
  CHECK(base::number_in(folder.path("word"), 7) == 7);
  CHECK(base::number_in(folder.path("missing"), 7) == 7);
}
