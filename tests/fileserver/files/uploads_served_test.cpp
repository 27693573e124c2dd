#include "fileserver/files/uploads.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/upload_name.h"
#include "tests/catch.h"
#include "tests/fileserver/files/upload_scene.h"
#include "tests/temporary_folder.h"

using fileserver::Fence;
using fileserver::FileVersion;
using fileserver::NamedFile;
using fileserver::Upload;
using fileserver::Uploads;
using fileserver::UploadStatus;
using tests::content_of;
using tests::kAlways;
using tests::kIfNew;
using Scene = tests::UploadScene;

namespace {

namespace fs = std::filesystem;

// Somebody changes each file as soon as it has its name.
class DisturbedFiles : public fileserver::DiskFiles {
 public:
  DisturbedFiles(std::shared_ptr<const Fence> fence, std::string folder)
      : DiskFiles(std::move(fence)), folder_(std::move(folder)) {}

  std::optional<NamedFile> publish(const std::string& name, int /*fd*/,
                                   const GiveName& give_name) override {
    const auto named = give_name();
    if (named) fs::resize_file(folder_ + "/" + name, 1);
    return named;
  }

 private:
  const std::string folder_;
};

using NameList = std::vector<std::string>;

}  // namespace

TEST_CASE("an upload is on disk and in memory when it is published", "[uploads]") {
  Scene scene;
  CHECK(scene.put("a", "one") == UploadStatus::kCreated);
  CHECK(scene.in_memory("a") == "one");
  CHECK(scene.put("a", "two") == UploadStatus::kReplaced);
  CHECK(scene.in_memory("a") == "two");
  CHECK(scene.on_disk("a") == "two");
  CHECK(scene.put("empty", "") == UploadStatus::kCreated);
  CHECK(scene.in_memory("empty").empty());
  CHECK(scene.names() == NameList{"a", "empty"});
}

TEST_CASE("a large upload is in memory, and one over the limit is served from disk", "[uploads]") {
  Scene scene;
  CHECK(scene.put("large", std::string(100'000, 'x')) == UploadStatus::kCreated);
  const auto large = scene.files->open("large");
  REQUIRE(large);
  CHECK(large->cached);
  CHECK(large->size_bytes() == 100'000);
  CHECK(scene.put("large", std::string(2 << 20, 'y')) == UploadStatus::kReplaced);
  const auto huge = scene.files->open("large");
  REQUIRE(huge);
  CHECK_FALSE(huge->cached);
  CHECK(huge->size_bytes() == 2 << 20);
}

TEST_CASE("the version that is answered is the one that is served", "[uploads]") {
  Scene scene;
  Upload upload = scene.uploads->begin("a", 0, kAlways);
  CHECK(upload.write(std::string_view("one")) == UploadStatus::kGoOn);
  const auto published = scene.uploads->publish(std::move(upload), kAlways);
  REQUIRE(published.status == UploadStatus::kCreated);
  const auto opened = scene.files->open("a");
  REQUIRE(opened);
  CHECK(opened->version.inode == published.version.inode);
  CHECK(opened->version.size_bytes == published.version.size_bytes);
  CHECK(opened->version.modified_ns == published.version.modified_ns);
}

TEST_CASE("what is in memory is what is on disk, however many replace it", "[uploads]") {
  Scene scene;
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        if (scene.put("a", std::to_string(i * 100 + j)) == UploadStatus::kFailed) ++failed;
        if (j % 7 == 0) scene.uploads->remove("a", kAlways);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  scene.put("a", "last");
  CHECK(scene.in_memory("a") == "last");
  CHECK(scene.on_disk("a") == "last");
}

TEST_CASE("the cache does not take a file whose name does not lead to it", "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);
  scene.folder.write("b/new", "one");
  const net::Fd fd(::open(scene.folder.path("b/new").c_str(), O_RDWR | O_CLOEXEC));
  const NamedFile named{fileserver::version_of(fd.get())};
  CHECK(cache.publish("a/new", fd.get(), [&] { return std::optional(named); }));
  CHECK_FALSE(cache.find("a/new"));
}

TEST_CASE("names of uploads are never served", "[uploads]") {
  CHECK(fileserver::is_upload_name(".turnstile-upload-1"));
  CHECK(fileserver::is_upload_name("a/.turnstile-upload-1"));
  CHECK(fileserver::is_upload_name("a/.turnstile-upload-1/b"));
  CHECK_FALSE(fileserver::is_upload_name("turnstile-upload-1"));
  CHECK_FALSE(fileserver::is_upload_name("a.turnstile-upload-1"));
  Scene scene;
  scene.folder.write(".turnstile-upload-1", "x");
  CHECK_FALSE(scene.files->open(".turnstile-upload-1"));
  CHECK_FALSE(fileserver::DiskFiles(scene.fence).open(".turnstile-upload-1"));
}

TEST_CASE("the updater finds an upload current, and does not read it again", "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);
  for (const char* bytes : {"one", "two"}) {
    const net::Fd fd(::open(scene.folder.path("new").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    REQUIRE(::write(fd.get(), bytes, 3) == 3);
    CHECK(cache.publish("a", fd.get(), [&] {
      const NamedFile named{fileserver::version_of(fd.get())};
      fs::rename(scene.folder.path("new"), scene.folder.path("a"));
      return std::optional(named);
    }));
    const auto published = cache.find("a")->file;
    REQUIRE(published);
    CHECK(cache.check("a") == fileserver::FileCache::State::kCurrent);
    CHECK(cache.load("a", {fileserver::kPieceBytes, [] { return true; }}) ==
          fileserver::FileCache::State::kCurrent);
    CHECK(cache.find("a")->file == published);
  }
}

TEST_CASE("the updater passes over the names of uploads", "[uploads]") {
  tests::TemporaryFolder folder;
  auto watch = fileserver::FolderWatch::on(folder.path());
  REQUIRE(watch);
  REQUIRE(watch->add(""));
  folder.write(".turnstile-upload-1", "x");
  folder.write("a", "x");
  const auto listed =
      fileserver::list_files(folder.path(), "", [](const std::string&) { return true; });
  CHECK(listed.files == NameList{"a"});
  const net::Fd never(::eventfd(0, EFD_CLOEXEC));
  CHECK(watch->wait(base::Deadline::in_ms(10'000), never.get(), -1).files ==
        fileserver::Names{"a"});
}

TEST_CASE("nobody waits for the copy in memory of an upload of the same name", "[uploads]") {
  // Takes long to copy the first upload, until another one is done.
  struct SlowFiles : fileserver::Files {
    base::Result<fileserver::OpenedFile> open(std::string_view) override {
      return base::Error{base::ErrorCode::kNotFound, ""};
    }
    std::optional<NamedFile> publish(const std::string&, int, const GiveName& give_name) override {
      if (!is_first.exchange(false)) return give_name();
      has_begun.count_down();
      for (int i = 0; i < 1000 && !is_other_done; ++i) base::pause_ms(5);
      has_waited = is_other_done.load();
      return give_name();
    }
    std::atomic<bool> is_first = true;
    std::atomic<bool> is_other_done = false;
    std::atomic<bool> has_waited = false;
    std::latch has_begun{1};
  };
  const tests::TemporaryFolder folder;
  SlowFiles files;
  Uploads uploads(std::make_shared<const Fence>(std::move(*Fence::around(folder.path()))), files);
  std::thread slow([&] { uploads.publish(uploads.begin("a", 0, kAlways), kAlways); });
  files.has_begun.wait();
  Upload quick = uploads.begin("a", 0, kAlways);
  CHECK(uploads.publish(std::move(quick), kIfNew).status == UploadStatus::kCreated);
  files.is_other_done = true;
  slow.join();
  CHECK(files.has_waited);
}

TEST_CASE("a client is told the version of its own bytes", "[uploads]") {
  const tests::TemporaryFolder folder;
  const auto fence = std::make_shared<const Fence>(std::move(*Fence::around(folder.path())));
  DisturbedFiles files(fence, folder.path());
  Uploads uploads(fence, files);
  Upload upload = uploads.begin("a", 0, kAlways);
  upload.write(std::string_view("mine"));
  const Uploads::Published published = uploads.publish(std::move(upload), kAlways);
  CHECK(published.status == UploadStatus::kCreated);
  CHECK(published.version.size_bytes == 4);
  CHECK(content_of(folder.path("a")) == "m");
}

TEST_CASE("bytes that another program writes as an upload gets its name are not taken for its own",
          "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);
  scene.folder.write("a", "ours");
  const net::Fd fd(::open(scene.folder.path("a").c_str(), O_RDWR | O_CLOEXEC));
  CHECK(cache.publish("a", fd.get(), [&] {
    const std::int64_t before_ns = fileserver::coarse_time_ns() - 1;
    CHECK(fileserver::set_modification_time(fd.get(), before_ns) == before_ns);
    const NamedFile named{fileserver::version_of(fd.get())};
    scene.folder.write("a", "hers");
    return std::optional(named);
  }));
  CHECK_FALSE(cache.find("a"));
}

TEST_CASE("an upload without a time of its own is read again before it is served from memory",
          "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);
  scene.folder.write("a", "ours");
  const net::Fd fd(::open(scene.folder.path("a").c_str(), O_RDWR | O_CLOEXEC));
  const NamedFile named{fileserver::version_of(fd.get()), false};
  CHECK(cache.publish("a", fd.get(), [&] { return std::optional(named); }));
  CHECK_FALSE(cache.find("a"));
}

TEST_CASE("an upload is opened on disk before it has settled", "[uploads]") {
  const tests::TemporaryFolder folder;
  const auto fence = std::make_shared<const Fence>(std::move(*Fence::around(folder.path())));
  fileserver::DiskFiles files(fence);
  Uploads uploads(fence, files);
  bool is_seen = false;
  for (int i = 0; i < 1000 && !is_seen; ++i) {
    CHECK(uploads.publish(uploads.begin("a", 0, kAlways), kAlways).status != UploadStatus::kFailed);
    const auto opened = files.open("a");
    REQUIRE(opened);
    CHECK(opened->was_settled);
    is_seen = !is_settled(opened->version);  // unless this thread stood still for a while
  }
  CHECK(is_seen);
}

TEST_CASE("nobody changes a name in the cache while an upload gets it", "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);
  scene.folder.write("a", "one");
  const net::Fd fd(::open(scene.folder.path("a").c_str(), O_RDWR | O_CLOEXEC));
  std::atomic<bool> is_named = false;
  std::atomic<bool> was_early = false;
  std::latch may_begin(1);
  std::thread other([&] {
    may_begin.wait();
    cache.remove("a", [&] {
      was_early = !is_named;
      return true;
    });
  });
  CHECK(cache.publish("a", fd.get(), [&] {
    may_begin.count_down();
    for (int i = 0; i < 40 && !was_early; ++i) base::pause_ms(5);
    is_named = true;
    return std::optional(NamedFile{fileserver::version_of(fd.get())});
  }));
  other.join();
  CHECK_FALSE(was_early);
  CHECK_FALSE(cache.find("a"));
}

TEST_CASE("a file that is removed is out of the cache at once", "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);  // which no updater keeps up to date
  scene.folder.write("a", "one");
  const net::Fd fd(::open(scene.folder.path("a").c_str(), O_RDWR | O_CLOEXEC));
  const NamedFile named{fileserver::version_of(fd.get())};
  CHECK(cache.publish("a", fd.get(), [&] { return std::optional(named); }));
  CHECK(cache.find("a")->file);
  CHECK_FALSE(cache.remove("a", [] { return false; }));
  CHECK(cache.find("a"));
  CHECK(cache.remove("a", [] { return true; }));
  CHECK_FALSE(cache.find("a"));
}
