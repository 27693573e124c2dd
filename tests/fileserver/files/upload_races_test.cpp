// What else happens to a name, or to its folder, while somebody uploads a file of this name.
#include <fcntl.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/file_cache.h"
#include "fileserver/files/uploads.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::Fence;
using fileserver::FileVersion;
using fileserver::MayChange;
using fileserver::Upload;
using fileserver::Uploads;
using fileserver::UploadStatus;

namespace {

namespace fs = std::filesystem;

const MayChange kAnyVersion = [](const FileVersion*) { return true; };

// A served folder whose files are read from disk, and uploads into it.
struct OnDisk {
  tests::TemporaryFolder folder;
  const std::shared_ptr<const Fence> fence =
      std::make_shared<const Fence>(std::move(*Fence::around(folder.path())));
  fileserver::DiskFiles files{fence};
  Uploads uploads{fence, files};
};

// Calls a function in a thread of its own.
class Meanwhile {
 public:
  ~Meanwhile() { thread_.join(); }

  // Returns whether the call has ended after a while.
  bool ends(std::function<void()> call) {
    constexpr int kLooks = 60;
    thread_ = std::thread([this, call = std::move(call)] {
      call();
      has_ended_ = true;
    });
    for (int i = 0; i < kLooks && !has_ended_; ++i) base::pause_ms(5);
    return has_ended_;
  }

 private:
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("an upload follows neither another folder of the name nor a link in its place",
          "[uploads]") {
  for (const bool is_link : {false, true}) {
    CAPTURE(is_link);
    OnDisk scene;
    const std::string place = scene.folder.path("f");
    fs::create_directory(place);
    Upload upload = scene.uploads.begin("f/a", 0, kAnyVersion);
    fs::rename(place, scene.folder.path("moved"));
    if (is_link) {
      fs::create_directory_symlink("moved", place);
    } else {
      fs::create_directory(place);
    }
    CHECK(scene.uploads.publish(std::move(upload), kAnyVersion).status == UploadStatus::kConflict);
    CHECK(fs::is_empty(place));
    CHECK(fs::is_empty(scene.folder.path("moved")));
  }
}

TEST_CASE("nobody gives a name while it is being removed", "[uploads]") {
  OnDisk scene;
  scene.folder.write("a", "old");
  Upload upload = scene.uploads.begin("a", 0, kAnyVersion);
  {
    Meanwhile publishing;
    const MayChange publish_meanwhile = [&](const FileVersion*) {
      CHECK_FALSE(
          publishing.ends([&] { (void)scene.uploads.publish(std::move(upload), kAnyVersion); }));
      return true;
    };
    CHECK(scene.uploads.remove("a", publish_meanwhile) == UploadStatus::kReplaced);
  }
  CHECK(fs::file_size(scene.folder.path("a")) == 0);
}

TEST_CASE("the cache publishes no name while it is being removed", "[files]") {
  const tests::TemporaryFolder folder;
  const Fence fence = std::move(*Fence::around(folder.path()));
  fileserver::FileCache cache(fence, 1 << 20);
  folder.write("a", "x");
  const net::Fd fd(::open(folder.path("a").c_str(), O_RDWR | O_CLOEXEC));
  Meanwhile publishing;
  CHECK(cache.remove("a", [&] {
    CHECK_FALSE(publishing.ends([&] {
      cache.publish("a", fd.get(), [&] { return std::optional<fileserver::NamedFile>(); });
    }));
    return true;
  }));
}
