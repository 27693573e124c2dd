#include "fileserver/files/uploads.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/prefetched_files.h"
#include "fileserver/files/upload_name.h"
#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/temporary_folder.h"

using fileserver::Fence;
using fileserver::FileVersion;
using fileserver::MayChange;
using fileserver::Upload;
using fileserver::Uploads;
using fileserver::UploadStatus;

namespace {

namespace fs = std::filesystem;

const MayChange kAlways = [](const FileVersion*) { return true; };
const MayChange kIfNew = [](const FileVersion* current) { return current == nullptr; };
const MayChange kIfThere = [](const FileVersion* current) { return current != nullptr; };

// The permissions of something new that wants these.
fs::perms usual(fs::perms wanted) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return wanted & ~fs::perms{mask};
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A served folder in memory, and uploads into it.
struct Scene {
  Scene() {
    auto opened = Fence::around(folder.path());
    fence = std::make_shared<const Fence>(std::move(*opened));
    files.emplace(fence, 1 << 20, [] { return true; });
    uploads.emplace(fence, *files);
  }

  UploadStatus put(const std::string& name, std::string_view bytes,
                   const MayChange& may = kAlways) {
    Upload upload = uploads->begin(name, bytes.size(), may);
    upload.write(bytes);
    return uploads->publish(std::move(upload), may).status;
  }

  std::string on_disk(const std::string& name) const { return content_of(folder.path(name)); }

  // What a request gets now, if it comes from memory.
  std::string in_memory(const std::string& name) {
    const auto opened = files->open(name);
    if (!opened || !opened->cached || !opened->cached->region.is_empty()) return "not in memory";
    const auto bytes = opened->cached->bytes();
    return {bytes.data(), bytes.size()};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  tests::TemporaryFolder folder;
  std::shared_ptr<const Fence> fence;
  std::optional<fileserver::PrefetchedFiles> files;
  std::optional<Uploads> uploads;
};

// Somebody changes each file as soon as it has its name.
class DisturbedFiles : public fileserver::DiskFiles {
 public:
  DisturbedFiles(std::shared_ptr<const Fence> fence, std::string folder)
      : DiskFiles(std::move(fence)), folder_(std::move(folder)) {}

  bool publish(const std::string& name, int /*fd*/, const std::function<bool()>& rename) override {
    if (!rename()) return false;
    fs::resize_file(folder_ + "/" + name, 1);
    return true;
  }

 private:
  const std::string folder_;
};

using Names = std::vector<std::string>;
using Removed = Uploads::Removed;

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
  CHECK(scene.names() == Names{"a", "empty"});
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

TEST_CASE("an upload that is not published leaves nothing", "[uploads]") {
  Scene scene;
  scene.put("a", "one");
  {
    Upload upload = scene.uploads->begin("a", 3, kAlways);
    CHECK(upload.write(std::string_view("tw")) == UploadStatus::kGoOn);
    CHECK(scene.in_memory("a") == "one");
  }
  CHECK(scene.on_disk("a") == "one");
  CHECK(scene.names() == Names{"a"});
}

TEST_CASE("conditions are looked at before the bytes and before the name is given", "[uploads]") {
  Scene scene;
  CHECK(scene.uploads->begin("a", 1, kIfThere).status() == UploadStatus::kNotAllowed);
  Upload late = scene.uploads->begin("a", 3, kIfNew);
  CHECK(late.status() == UploadStatus::kGoOn);
  CHECK(late.write(std::string_view("two")) == UploadStatus::kGoOn);
  CHECK(scene.put("a", "one", kIfNew) == UploadStatus::kCreated);
  CHECK(scene.uploads->publish(std::move(late), kIfNew).status == UploadStatus::kNotAllowed);
  CHECK(scene.on_disk("a") == "one");
  CHECK(scene.uploads->remove("a", Removed::kAny, kIfNew) == UploadStatus::kNotAllowed);
  CHECK(scene.names() == Names{"a"});
}

TEST_CASE("of many uploads of one new name, one makes it", "[uploads]") {
  Scene scene;
  std::vector<std::thread> threads;
  std::atomic<int> created = 0;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto status = scene.put("a", std::string(1000, static_cast<char>('0' + i)), kIfNew);
      if (status == UploadStatus::kCreated) ++created;
      if (status == UploadStatus::kNotAllowed) ++refused;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(created == 1);
  CHECK(refused == 7);
  const std::string bytes = scene.on_disk("a");
  CHECK(bytes == std::string(1000, bytes.at(0)));
  CHECK(scene.in_memory("a") == bytes);
  CHECK(scene.names() == Names{"a"});
}

TEST_CASE("what is in memory is what is on disk, however many replace it", "[uploads]") {
  Scene scene;
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        if (scene.put("a", std::to_string(i * 100 + j)) == UploadStatus::kFailed) ++failed;
        if (j % 7 == 0) scene.uploads->remove("a", Removed::kAny, kAlways);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  scene.put("a", "last");
  CHECK(scene.in_memory("a") == "last");
  CHECK(scene.on_disk("a") == "last");
}

TEST_CASE("what is in the way of an upload is a conflict", "[uploads]") {
  Scene scene;
  scene.put("file", "x");
  fs::create_directory(scene.folder.path("folder"));
  ::mkfifo(scene.folder.path("pipe").c_str(), 0600);
  fs::create_directory_symlink("..", scene.folder.path("out"));
  for (const char* name : {"", "folder", "pipe", "file/a", "no/a", "out/a", "../a", "folder/../a",
                           ".turnstile-upload-1", "folder/.turnstile-upload-1"}) {
    CAPTURE(name);
    CHECK(scene.put(name, "x") == UploadStatus::kConflict);
  }
  CHECK(scene.put(std::string(300, 'a'), "x") == UploadStatus::kConflict);
  CHECK(scene.put("folder/a", "x") == UploadStatus::kCreated);
  CHECK(scene.in_memory("folder/a") == "x");
}

TEST_CASE("a link is replaced and not followed, one to a folder is followed", "[uploads]") {
  Scene scene;
  scene.put("target", "old");
  fs::create_symlink("target", scene.folder.path("link"));
  CHECK(scene.put("link", "new", kIfNew) == UploadStatus::kNotAllowed);
  CHECK(scene.put("link", "new") == UploadStatus::kReplaced);
  CHECK(scene.on_disk("target") == "old");
  CHECK(scene.in_memory("link") == "new");
  fs::create_directory(scene.folder.path("folder"));
  fs::create_directory_symlink("folder", scene.folder.path("alias"));
  CHECK(scene.put("folder/a", "one") == UploadStatus::kCreated);
  CHECK(scene.put("alias/a", "two") == UploadStatus::kReplaced);
  CHECK(scene.in_memory("folder/a") == "two");
}

TEST_CASE("no name leads to an upload whose folder has lost its name", "[uploads]") {
  for (const auto& [was_there, is_outside] :
       {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
    Scene scene;
    const tests::TemporaryFolder outside;
    fs::create_directories(scene.folder.path("f/g"));
    if (was_there) scene.put("f/g/a", "old");
    const std::string moved = is_outside ? outside.path("other") : scene.folder.path("other");
    Upload upload = scene.uploads->begin("f/g/a", 3, kAlways);
    CHECK(upload.write(std::string_view("new")) == UploadStatus::kGoOn);
    fs::rename(scene.folder.path("f"), moved);
    CHECK(scene.uploads->publish(std::move(upload), kAlways).status == UploadStatus::kConflict);
    CHECK_FALSE(fs::exists(scene.folder.path("f")));
    CHECK(fs::exists(moved + "/g/a") == was_there);
    if (was_there) CHECK(content_of(moved + "/g/a") == "old");
  }
}

TEST_CASE("the cache does not take a file whose name does not lead to it", "[uploads]") {
  Scene scene;
  fileserver::FileCache cache(*scene.fence, 1 << 20);
  scene.folder.write("b/new", "one");
  const net::Fd fd(::open(scene.folder.path("b/new").c_str(), O_RDWR | O_CLOEXEC));
  CHECK(cache.publish("a/new", fd.get(), [] { return true; }));
  CHECK_FALSE(cache.find("a/new"));
}

TEST_CASE("files, links and empty folders are removed", "[uploads]") {
  Scene scene;
  CHECK(scene.uploads->remove("a", Removed::kAny, kAlways) == UploadStatus::kNotFound);
  CHECK(scene.uploads->remove("no/a", Removed::kAny, kAlways) == UploadStatus::kNotFound);
  scene.put("a", "one");
  CHECK(scene.uploads->remove("a", Removed::kFolder, kAlways) == UploadStatus::kNotFound);
  CHECK(scene.uploads->remove("", Removed::kFolder, kAlways) == UploadStatus::kConflict);
  CHECK(scene.uploads->remove("a", Removed::kAny, kAlways) == UploadStatus::kReplaced);
  CHECK_FALSE(scene.files->open("a"));
  CHECK(scene.uploads->make_folder("folder") == UploadStatus::kCreated);
  scene.put("folder/a", "one");
  CHECK(scene.uploads->remove("folder", Removed::kAny, kAlways) == UploadStatus::kConflict);
  CHECK(scene.in_memory("folder/a") == "one");
  scene.uploads->remove("folder/a", Removed::kAny, kAlways);
  CHECK(scene.uploads->remove("folder", Removed::kAny, kAlways) == UploadStatus::kReplaced);
  fs::create_symlink("nowhere", scene.folder.path("link"));
  CHECK(scene.uploads->remove("link", Removed::kAny, kAlways) == UploadStatus::kReplaced);
  CHECK(scene.names().empty());
}

TEST_CASE("a folder is made once, and only in a folder", "[uploads]") {
  Scene scene;
  CHECK(scene.uploads->make_folder("a") == UploadStatus::kCreated);
  CHECK(fs::status(scene.folder.path("a")).permissions() == usual(fs::perms::all));
  CHECK(scene.uploads->make_folder("a") == UploadStatus::kExists);
  CHECK(scene.uploads->make_folder("a/b") == UploadStatus::kCreated);
  CHECK(scene.uploads->make_folder("no/b") == UploadStatus::kConflict);
  CHECK(scene.uploads->make_folder("") == UploadStatus::kExists);
  CHECK(scene.uploads->make_folder(".turnstile-upload-a") == UploadStatus::kConflict);
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
      fs::rename(scene.folder.path("new"), scene.folder.path("a"));
      return true;
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
  CHECK(listed.files == Names{"a"});
  const net::Fd never(::eventfd(0, EFD_CLOEXEC));
  CHECK(watch->wait(base::Deadline::in_ms(10'000), never.get(), -1).files ==
        fileserver::Names{"a"});
}

TEST_CASE("a name that no file can have is refused before a byte comes", "[uploads]") {
  Scene scene;
  const std::string too_long(256, 'a');
  CHECK(scene.uploads->begin(too_long, 1, kAlways).status() == UploadStatus::kConflict);
  CHECK(scene.uploads->begin(std::string(255, 'a'), 1, kAlways).status() == UploadStatus::kGoOn);
  CHECK(scene.uploads->remove(too_long, Removed::kAny, kAlways) == UploadStatus::kNotFound);
  CHECK(scene.uploads->make_folder(too_long) == UploadStatus::kConflict);
}

TEST_CASE("without a descriptor nothing changes", "[uploads]") {
  Scene scene;
  scene.put("a", "old");
  Upload upload = scene.uploads->begin("a", 3, kAlways);
  CHECK(upload.write(std::string_view("new")) == UploadStatus::kGoOn);
  {
    const tests::NoDescriptors none;
    CHECK(scene.uploads->publish(std::move(upload), kAlways).status == UploadStatus::kFailed);
    CHECK(scene.uploads->begin("b", 3, kAlways).status() == UploadStatus::kFailed);
    CHECK(scene.uploads->remove("a", Removed::kAny, kAlways) == UploadStatus::kFailed);
    CHECK(scene.uploads->make_folder("c") == UploadStatus::kFailed);
  }
  CHECK(scene.on_disk("a") == "old");
  CHECK(scene.names() == Names{"a"});
}

TEST_CASE("an upload needs one more descriptor at its end, for a moment", "[uploads]") {
  Scene scene;
  Upload upload = scene.uploads->begin("a", 3, kAlways);
  CHECK(upload.write(std::string_view("new")) == UploadStatus::kGoOn);
  {
    const tests::OneDescriptor one;
    CHECK(scene.uploads->publish(std::move(upload), kAlways).status == UploadStatus::kCreated);
  }
  CHECK(scene.on_disk("a") == "new");
}

TEST_CASE("nobody waits for the copy in memory of an upload of the same name", "[uploads]") {
  // Takes long to copy the first upload, until another one is done.
  struct SlowFiles : fileserver::Files {
    base::Result<fileserver::OpenedFile> open(std::string_view) override {
      return base::Error{base::ErrorCode::kNotFound, ""};
    }
    bool publish(const std::string&, int, const std::function<bool()>& rename) override {
      if (!is_first.exchange(false)) return rename();
      has_begun.count_down();
      for (int i = 0; i < 1000 && !is_other_done; ++i) base::pause_ms(5);
      has_waited = is_other_done.load();
      return rename();
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

TEST_CASE("a file that is replaced keeps its permissions, a new one gets the usual ones",
          "[uploads]") {
  Scene scene;
  scene.put("a", "one");
  const auto mode = fs::perms::owner_all | fs::perms::group_read;
  fs::permissions(scene.folder.path("a"), mode);
  CHECK(scene.put("a", "two") == UploadStatus::kReplaced);
  CHECK(fs::status(scene.folder.path("a")).permissions() == mode);
  CHECK(scene.put("b", "one") == UploadStatus::kCreated);
  CHECK(fs::status(scene.folder.path("b")).permissions() == usual(fs::perms{0666}));
}

TEST_CASE("room that the disk does not have is refused before a byte comes", "[uploads]") {
  Scene scene;
  const auto too_much = std::uint64_t{1} << 62;
  CHECK(scene.uploads->begin("a", too_much, kAlways).status() == UploadStatus::kNoSpace);
  CHECK(scene.uploads->begin("a", ~std::uint64_t{0}, kAlways).status() == UploadStatus::kNoSpace);
  CHECK(scene.names().empty());
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
