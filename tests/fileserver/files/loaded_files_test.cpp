#include "fileserver/files/loaded_files.h"

#include <filesystem>

#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/temporary_folder.h"

using fileserver::Fence;
using fileserver::LoadedFiles;
using State = LoadedFiles::State;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kLimitBytes = 1 << 30;
constexpr std::int64_t kPieceBytes = 1 << 20;
constexpr std::int64_t kTwoPiecesBytes = 2 * kPieceBytes;

struct Served {
  // A file that was written just now is refused for a moment: until it has settled.
  State load(
      const std::string& name, const std::function<bool()>& may_go_on = [] { return true; }) {
    for (;;) {
      const State state = files.load(name, {kPieceBytes, may_go_on});
      if (state != State::kChanging) return state;
      net::pause_ms(5);
    }
  }

  // "none", "on disk", or the bytes in memory.
  std::string known(const std::string& name) const {
    const auto file = files.find(name);
    if (!file) return "none";
    return file->data ? std::string(file->bytes().begin(), file->bytes().end()) : "on disk";
  }

  tests::TemporaryFolder folder;
  Fence fence = std::move(*Fence::around(folder.path()));
  LoadedFiles files{fence, kLimitBytes};
};

}  // namespace

TEST_CASE("a new file is served from disk until it is loaded", "[files]") {
  Served served;
  served.folder.write("a", "first");
  CHECK(served.files.look_at("a") != State::kInStep);
  CHECK(served.known("a") == "on disk");
  CHECK(served.load("a") == State::kInStep);
  CHECK(served.known("a") == "first");
  CHECK(served.files.look_at("a") == State::kInStep);
}

TEST_CASE("the known version of a file that changed stays until the new one is loaded", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  served.folder.write("a", "second");
  CHECK(served.files.look_at("a") != State::kInStep);
  CHECK(served.known("a") == "first");
  CHECK(served.load("a") == State::kInStep);
  CHECK(served.known("a") == "second");
}

TEST_CASE("the known version can be given up for what is on disk", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  served.files.serve_from_disk("a");
  CHECK(served.known("a") == "on disk");
  CHECK(served.files.used_bytes() == 0);
  served.files.serve_from_disk("unknown");
  CHECK(served.known("unknown") == "none");
}

TEST_CASE("a look finds that a file is gone", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  fs::remove(served.folder.path("a"));
  CHECK(served.files.look_at("a") == State::kInStep);
  CHECK(served.known("a") == "none");
}

TEST_CASE("a look for which there is no descriptor changes nothing", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  fs::remove(served.folder.path("a"));
  const auto look_in_vain = [&] {
    const tests::NoDescriptors none;
    return served.files.look_at("a");
  };
  CHECK(look_in_vain() == State::kUnseen);
  CHECK(served.known("a") == "first");
  CHECK(served.files.look_at("a") == State::kInStep);
  CHECK(served.known("a") == "none");
}

TEST_CASE("a file that is removed or replaced while it is read is not known by what was read",
          "[files]") {
  Served served;
  const auto prepare = [&] {
    served.folder.write("large", "");
    fs::resize_file(served.folder.path("large"), kTwoPiecesBytes);
  };
  prepare();
  const auto state_after_removal = served.load("large", [&] {
    fs::remove(served.folder.path("large"));
    return true;
  });
  CHECK(state_after_removal == State::kInStep);
  CHECK(served.known("large") == "none");

  prepare();
  const auto replace = [&] {
    served.folder.write("fresh", "small");
    fs::rename(served.folder.path("fresh"), served.folder.path("large"));
    return true;
  };
  served.load("large", replace);
  CHECK(served.load("large") == State::kInStep);
  CHECK(served.known("large") == "small");
}

TEST_CASE("a load that may not go on leaves the file as it was known", "[files]") {
  Served served;
  served.folder.write("large", "");
  CHECK(served.load("large") == State::kInStep);
  fs::resize_file(served.folder.path("large"), kTwoPiecesBytes);
  bool was_asked = false;
  const auto ask_and_refuse = [&] {
    was_asked = true;
    return false;
  };
  while (!was_asked) {
    CHECK(served.files.load("large", {kPieceBytes, ask_and_refuse}) == State::kChanging);
    net::pause_ms(5);
  }
  CHECK(served.known("large").empty());
}
