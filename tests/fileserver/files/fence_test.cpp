#include "fileserver/files/fence.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using base::ErrorCode;
using fileserver::Fence;
namespace fs = std::filesystem;

namespace {

// root/ is served; outside.txt beside it is not.
struct ServedFolder {
  ServedFolder() {
    folder.write("outside.txt", "secret");
    folder.write("root/a.txt", "a");
    folder.write("root/sub/b.txt", "b");
  }
  Fence fence() const { return std::move(*Fence::around(folder.path("root"))); }
  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, folder.path("root/" + name));
  }

  tests::TemporaryFolder folder;
};

bool can_open(const Fence& fence, const std::string& name) {
  const auto file = fence.open_file(name, Fence::Links::kFollowed);
  if (!file) CHECK(file.error().code == ErrorCode::kNotFound);
  return file.ok();
}

// From now on, openat2 fails in this thread as it does in an old kernel. Returns whether it does.
bool give_up_openat2() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(steps)), steps};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
  return ::syscall(SYS_openat2, -1, "", nullptr, 0) == -1 && errno == ENOSYS;
}

// Calls `body` in a thread without openat2. Nothing in it may be a check of Catch2.
bool is_done_without_openat2(const std::function<void()>& body) {
  bool is_done = false;
  std::thread([&] {
    is_done = give_up_openat2();
    if (is_done) body();
  }).join();
  return is_done;
}

}  // namespace

TEST_CASE("regular files below the folder can be opened", "[files]") {
  const ServedFolder served;
  const Fence fence = served.fence();
  CHECK(can_open(fence, "a.txt"));
  CHECK(can_open(fence, "sub/b.txt"));
}

TEST_CASE("names that leave the folder, or are not file names, cannot be opened", "[files]") {
  const ServedFolder served;
  const Fence fence = served.fence();
  for (const char* name :
       {"", ".", "..", "../outside.txt", "sub/../a.txt", "/etc/passwd", "a.txt/", "sub", "none"}) {
    CAPTURE(name);
    CHECK_FALSE(can_open(fence, name));
  }
  CHECK_FALSE(can_open(fence, std::string(5000, 'x')));
  CHECK_FALSE(can_open(fence, std::string("a.txt\0.jpg", 10)));
}

TEST_CASE("a name with a line break cannot be opened, though there is such a file", "[files]") {
  const ServedFolder served;
  for (const char* name : {"two\nlines", "two\rlines", "end\n"}) {
    served.folder.write(std::string("root/") + name, "content");
    CHECK_FALSE(can_open(served.fence(), name));
  }
}

TEST_CASE("links are followed only if they stay inside the folder", "[files][openat2]") {
  const ServedFolder served;
  served.link("a.txt", "inside");
  served.link("sub", "folder");
  served.link("../outside.txt", "leaves");
  served.link("../root/a.txt", "comes-back");
  served.link(served.folder.path("root/a.txt"), "absolute");
  served.link("loop", "loop");
  const Fence fence = served.fence();
  CHECK(can_open(fence, "inside"));
  CHECK(can_open(fence, "folder/b.txt"));
  for (const char* name : {"leaves", "comes-back", "absolute", "loop"}) {
    CAPTURE(name);
    CHECK_FALSE(can_open(fence, name));
  }
  CHECK_FALSE(fence.open_file("inside", Fence::Links::kRefused).ok());
}

TEST_CASE("without openat2 no link is followed, wherever it points to", "[files]") {
  const ServedFolder served;
  served.link("a.txt", "inside");
  served.link("sub", "folder");
  served.link("../outside.txt", "leaves");
  served.link("..", "up");
  std::vector<std::string> opened;
  const bool is_done = is_done_without_openat2([&] {
    const Fence fence = served.fence();
    for (const char* name : {"a.txt", "sub/b.txt", "inside", "folder/b.txt", "leaves",
                             "up/outside.txt", "up/root/a.txt"}) {
      if (fence.open_file(name, Fence::Links::kFollowed)) opened.emplace_back(name);
    }
  });
  if (!is_done) {
    WARN("not tested: this kernel does not let a thread give up a system call");
    return;
  }
  CHECK(opened == std::vector<std::string>{"a.txt", "sub/b.txt"});
}

TEST_CASE("what is not a regular file is never opened", "[files]") {
  const ServedFolder served;
  REQUIRE(::mkfifo(served.folder.path("root/fifo").c_str(), 0600) == 0);
  const Fence fence = served.fence();
  CHECK_FALSE(can_open(fence, "fifo"));  // opening it would block
}

TEST_CASE("the name without links of a linked file is found", "[files][openat2]") {
  const ServedFolder served;
  served.link("sub", "folder");
  const Fence fence = served.fence();
  CHECK(*fence.real_name("folder/b.txt") == "sub/b.txt");
  CHECK(*fence.real_name("sub/b.txt") == "sub/b.txt");
  CHECK_FALSE(fence.real_name("folder/none").ok());
}

TEST_CASE("the name behind a link is found after the folder was renamed", "[files][openat2]") {
  const ServedFolder served;
  served.link("sub", "folder");
  const Fence fence = served.fence();
  fs::rename(served.folder.path("root"), served.folder.path("renamed"));
  CHECK(*fence.real_name("folder/b.txt") == "sub/b.txt");
}

TEST_CASE("a folder that was removed and made again is opened again", "[files]") {
  const ServedFolder served;
  const Fence fence = served.fence();
  fs::remove_all(served.folder.path("root"));
  CHECK_FALSE(can_open(fence, "a.txt"));
  served.folder.write("root/a.txt", "again");
  CHECK(can_open(fence, "a.txt"));
}

TEST_CASE("a file is opened without O_DIRECT where the file system refuses it", "[files]") {
  const auto fence = Fence::around("/proc/sys/kernel");
  REQUIRE(fence);
  const auto file = fence->open_file("ostype", Fence::Links::kRefused, Fence::Io::kDirect);
  REQUIRE(file);
  CHECK_FALSE(file->is_direct);
}

TEST_CASE("a fence around a folder that does not exist is an error", "[files]") {
  const tests::TemporaryFolder folder;
  const auto fence = Fence::around(folder.path("none"));
  REQUIRE_FALSE(fence);
  CHECK(fence.error().context.find("No such file") != std::string::npos);
}
