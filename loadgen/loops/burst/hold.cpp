#include "loadgen/loops/burst/hold.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/file_io.h"

namespace loadgen::burst {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t kLongestFreezeNs = 10 * base::kNsPerS;

base::Error wrong(const std::string& group, std::string_view what) {
  return {base::ErrorCode::kInvalid, "--hold " + group + ": " + std::string(what)};
}

struct Members {
  bool are_there = false;
  bool is_one_this_process = false;

  // Those of the group itself, without the groups below it.
  void add(const fs::path& group) {
    std::ifstream in(group / "cgroup.procs");
    for (pid_t pid = 0; in >> pid;) {
      are_there = true;
      if (pid == ::getpid()) is_one_this_process = true;
    }
  }
};

Members members_of(const std::string& group) {
  Members members;
  members.add(group);
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(group, ignored), end; at != end; at.increment(ignored)) {
    if (at->is_directory(ignored)) members.add(at->path());
  }
  return members;
}

}  // namespace

base::Result<Hold> Hold::of_group(const std::string& group) {
  static constexpr Words kVersion1{"/freezer.state", "FROZEN", "THAWED", "/freezer.state",
                                   "FROZEN"};
  static constexpr Words kVersion2{"/cgroup.freeze", "1", "0", "/cgroup.events", "frozen 1"};
  const Words& words =
      ::access((group + kVersion2.order).c_str(), F_OK) == 0 ? kVersion2 : kVersion1;
  const std::string path = group + words.order;
  net::Fd order(base::retried([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }));
  if (!order.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR)
      return wrong(group, "no folder of a control group that can be frozen");
    return base::errno_error(base::ErrorCode::kInvalid, "--hold: open " + path, errno);
  }
  const Members members = members_of(group);
  if (members.is_one_this_process) return wrong(group, "loadgen itself is in this control group");
  if (!members.are_there) return wrong(group, "no process is in this control group");
  auto guard = ThawGuard::start(order.get(), words.thaw);
  if (!guard) return guard.error();
  return Hold(group, words, std::move(order), std::move(*guard));
}

Hold::~Hold() {
  if (order_.is_open()) static_cast<void>(thaw().ok());
}

base::Status Hold::freeze() {
  if (auto given = give(words_.freeze); !given) return given;
  const std::int64_t latest_ns = base::now_ns() + kLongestFreezeNs;
  while (!is_frozen()) {
    if (base::now_ns() > latest_ns) {
      static_cast<void>(thaw().ok());
      return wrong(group_, "it did not freeze within 10 s");
    }
    std::this_thread::sleep_for(100us);
  }
  return base::kDone;
}

base::Status Hold::thaw() { return give(words_.thaw); }

base::Status Hold::give(const char* order) {
  if (base::write_all(order_.get(), order)) return base::kDone;
  return base::errno_error(base::ErrorCode::kInternal, "--hold: write " + group_ + words_.order,
                           errno);
}

// Each look is at the present state, because the file is opened anew.
bool Hold::is_frozen() const {
  std::ifstream in(group_ + words_.state);
  for (std::string line; std::getline(in, line);) {
    if (line == words_.frozen) return true;
  }
  return false;
}

}  // namespace loadgen::burst
