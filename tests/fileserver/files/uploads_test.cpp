#include "fileserver/files/uploads.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/fileserver/files/upload_scene.h"
#include "tests/temporary_folder.h"

using fileserver::FileVersion;
using fileserver::Upload;
using fileserver::Uploads;
using fileserver::UploadStatus;
using tests::content_of;
using tests::kAlways;
using tests::kIfNew;
using tests::kIfThere;
using Scene = tests::UploadScene;

namespace {

namespace fs = std::filesystem;

// The permissions of something new that wants these.
fs::perms usual(fs::perms wanted) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return wanted & ~fs::perms{mask};
}

// Takes the right to write away from this thread, also if it is of root, while it lives.
class NoRights {
 public:
  ~NoRights() { ::setfsuid(before_); }
  void begin() { ::setfsuid(kNobody); }

 private:
  static constexpr uid_t kNobody = 65534;
  const uid_t before_ = ::geteuid();
};

using NameList = std::vector<std::string>;

}  // namespace

TEST_CASE("an upload that is not published leaves nothing", "[uploads]") {
  Scene scene;
  scene.put("a", "one");
  {
    Upload upload = scene.uploads->begin("a", 3, kAlways);
    CHECK(upload.write(std::string_view("tw")) == UploadStatus::kGoOn);
    CHECK(scene.in_memory("a") == "one");
  }
  CHECK(scene.on_disk("a") == "one");
  CHECK(scene.names() == NameList{"a"});
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
  CHECK(scene.uploads->remove("a", kIfNew) == UploadStatus::kNotAllowed);
  CHECK(scene.names() == NameList{"a"});
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
  CHECK(scene.names() == NameList{"a"});
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

TEST_CASE("files, links and empty folders are removed", "[uploads]") {
  Scene scene;
  CHECK(scene.uploads->remove("a", kAlways) == UploadStatus::kNotFound);
  CHECK(scene.uploads->remove("no/a", kAlways) == UploadStatus::kNotFound);
  scene.put("a", "one");
  CHECK(scene.uploads->remove("", kAlways) == UploadStatus::kConflict);
  CHECK(scene.uploads->remove("a", kAlways) == UploadStatus::kReplaced);
  CHECK_FALSE(scene.files->open("a"));
  CHECK(scene.uploads->make_folder("folder") == UploadStatus::kCreated);
  scene.put("folder/a", "one");
  CHECK(scene.uploads->remove("folder", kAlways) == UploadStatus::kConflict);
  CHECK(scene.in_memory("folder/a") == "one");
  scene.uploads->remove("folder/a", kAlways);
  CHECK(scene.uploads->remove("folder", kAlways) == UploadStatus::kReplaced);
  fs::create_symlink("nowhere", scene.folder.path("link"));
  CHECK(scene.uploads->remove("link", kAlways) == UploadStatus::kReplaced);
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

TEST_CASE("a name that no file can have is refused before a byte comes", "[uploads]") {
  Scene scene;
  const std::string too_long(256, 'a');
  CHECK(scene.uploads->begin(too_long, 1, kAlways).status() == UploadStatus::kConflict);
  CHECK(scene.uploads->begin(std::string(255, 'a'), 1, kAlways).status() == UploadStatus::kGoOn);
  CHECK(scene.uploads->remove(too_long, kAlways) == UploadStatus::kNotFound);
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
    CHECK(scene.uploads->remove("a", kAlways) == UploadStatus::kFailed);
    CHECK(scene.uploads->make_folder("c") == UploadStatus::kFailed);
  }
  CHECK(scene.on_disk("a") == "old");
  CHECK(scene.names() == NameList{"a"});
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

TEST_CASE("a folder that was moved out lacks no right, it is gone", "[uploads]") {
  Scene scene;
  fs::permissions(scene.folder.path(), fs::perms::all);
  const tests::TemporaryFolder outside;
  const std::string moved = outside.path("f");
  for (const bool is_moved : {false, true}) {
    fs::create_directory(scene.folder.path("f"));
    {
      NoRights rights;
      const auto lose_rights = [&](const FileVersion*) {
        if (is_moved) fs::rename(scene.folder.path("f"), moved);
        fs::permissions(is_moved ? moved : scene.folder.path("f"),
                        fs::perms::owner_read | fs::perms::owner_exec);
        rights.begin();
        return true;
      };
      const auto status = scene.uploads->begin("f/a", 0, lose_rights).status();
      CHECK(status == (is_moved ? UploadStatus::kConflict : UploadStatus::kForbidden));
    }
    if (!is_moved) fs::remove(scene.folder.path("f"));
  }
}
