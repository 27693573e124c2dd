#include "fileserver/files/moves.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fileserver/files/folder_removals.h"
#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/fileserver/files/upload_scene.h"

using fileserver::MayGoOn;
using fileserver::Moves;
using fileserver::UploadStatus;
using tests::content_of;
using tests::kAlways;
using tests::kIfNew;

namespace {

namespace fs = std::filesystem;
using NameList = std::vector<std::string>;

const Moves::GoOn kGoOn{[] { return true; }, [] { return true; }};

struct MovesScene : tests::UploadScene {
  Moves moves{*uploads};

  void write(const std::string& name, std::string_view bytes) const {
    const std::string path = folder.path(name);
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  UploadStatus move(std::string_view from, std::string_view to, bool may_replace = true) {
    return moves.move({from, false, to, false, may_replace}, kAlways, kGoOn);
  }
  UploadStatus copy(std::string_view from, std::string_view to, const Moves::GoOn& go_on = kGoOn) {
    return moves.copy({from, false, to, false, true}, Moves::Depth::kAll, kAlways, go_on);
  }
  UploadStatus remove(std::string_view name, const MayGoOn& may_go_on = kGoOn.may_remove) {
    return fileserver::FolderRemovals(*uploads).remove(name, kAlways, may_go_on);
  }
};

// Notes what is to be forgotten. The files themselves would soon find that out by inotify.
struct NotedFiles : fileserver::Files {
  base::Result<fileserver::OpenedFile> open(std::string_view) override {
    return base::Error{base::ErrorCode::kNotFound, "never asked"};
  }
  bool rename(const std::string& from, const std::string& to,
              const std::function<bool()>& rename) override {
    names = {from, to};
    return rename();
  }
  bool remove(const std::string& name, const std::function<bool()>& unlink) override {
    names = {name};
    return unlink();
  }
  void forget_below(const fileserver::Names& folders) override { forgotten = folders; }

  NameList names;
  fileserver::Names forgotten;
};

}  // namespace

TEST_CASE("a moved file is found under its new name alone", "[moves]") {
  MovesScene scene;
  scene.put("a", "one");
  scene.put("b", "two");
  CHECK(scene.in_memory("a") == "one");
  CHECK(scene.move("a", "c", false) == UploadStatus::kCreated);
  CHECK_FALSE(scene.files->open("a"));
  CHECK(scene.files->open("c"));
  CHECK(scene.move("c", "b", false) == UploadStatus::kNotAllowed);
  CHECK(scene.move("c", "b") == UploadStatus::kReplaced);
  CHECK(scene.on_disk("b") == "one");
  CHECK(scene.files->open("b")->size_bytes() == 3);
  CHECK(scene.names() == NameList{"b"});
  CHECK(scene.moves.move({"b", false, "c", false, true}, kIfNew, kGoOn) ==
        UploadStatus::kNotAllowed);
}

TEST_CASE("a file replaces a folder, and a folder a file", "[moves]") {
  MovesScene scene;
  scene.write("folder/sub/x", "x");
  scene.put("a", "one");
  CHECK(scene.move("a", "folder") == UploadStatus::kReplaced);
  CHECK(scene.on_disk("folder") == "one");
  scene.write("new/y", "y");
  CHECK(scene.move("new", "folder") == UploadStatus::kReplaced);
  CHECK(scene.names() == NameList{"folder", "y"});
}

TEST_CASE("nothing is moved into itself or onto what it is in", "[moves]") {
  MovesScene scene;
  scene.write("a/b/c", "c");
  for (const auto& [from, to] :
       {std::pair{"a", "a"}, {"a", "a/d"}, {"a/b", "a"}, {"a/b/c", "a"}, {"", "d"}, {"a", ""}}) {
    CAPTURE(from, to);
    CHECK(scene.move(from, to) == UploadStatus::kForbidden);
    CHECK(scene.copy(from, to) == UploadStatus::kForbidden);
  }
  // The same beginning is not the same folder.
  CHECK(scene.move("a", "ab") == UploadStatus::kCreated);
}

TEST_CASE("a copy that is ended leaves nothing", "[moves]") {
  MovesScene scene;
  for (int i = 0; i < 20; ++i) scene.write("a/" + std::to_string(i) + "/x", "x");
  scene.write("b/old", "old");
  int asked = 0;
  const Moves::GoOn soon_over{[&] { return ++asked < 10; }, [] { return true; }};
  CHECK(scene.copy("a", "b", soon_over) == UploadStatus::kFailed);
  CHECK(content_of(scene.folder.path("b/old")) == "old");
  CHECK(fs::exists(scene.folder.path("a/19/x")));
  CHECK(scene.copy("a", "c", soon_over) == UploadStatus::kFailed);
  CHECK_FALSE(fs::exists(scene.folder.path("c")));
  for (const auto& entry : fs::directory_iterator(scene.folder.path()))
    CHECK_FALSE(entry.path().filename().string().starts_with("."));
}

TEST_CASE("a copy that may not have its name changes nothing", "[moves]") {
  MovesScene scene;
  scene.write("file", "new");
  scene.write("folder/new", "new");
  scene.write("old", "old");
  scene.write("old-folder/old", "old");
  const auto before = scene.names();
  const Moves::GoOn refused{kGoOn.may_copy, kGoOn.may_remove, [] { return false; }};
  for (const char* const from : {"file", "folder"}) {
    for (const char* const to : {"nothing", "old", "old-folder"})
      CHECK(scene.copy(from, to, refused) == UploadStatus::kNotAllowed);
  }
  CHECK(scene.names() == before);
  CHECK(scene.on_disk("old") == "old");
  CHECK(scene.on_disk("old-folder/old") == "old");
}

TEST_CASE("a folder that a file is to replace comes back, or is kept", "[moves]") {
  MovesScene scene;
  scene.write("file", "new");
  scene.write("folder/old", "old");
  int asked = 0;
  Moves::GoOn go_on{kGoOn.may_copy, kGoOn.may_remove, [&] { return ++asked == 1; }};
  CHECK(scene.copy("file", "folder", go_on) == UploadStatus::kNotAllowed);
  CHECK(scene.on_disk("folder/old") == "old");
  // Another program makes a folder of its name while it is out of sight.
  asked = 0;
  go_on.may_name = [&] {
    if (++asked == 2) fs::create_directory(scene.folder.path("folder"));
    return true;
  };
  CHECK(scene.copy("file", "folder", go_on) == UploadStatus::kConflict);
  scene.uploads.emplace(scene.fence, *scene.files);  // the next start
  std::string kept;
  for (const auto& entry : fs::directory_iterator(scene.folder.path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".turnstile-upload-kept-")) kept = name;
  }
  CHECK(content_of(scene.folder.path(kept + "/old")) == "old");
  CHECK_FALSE(scene.files->open(kept + "/old"));
}

TEST_CASE("a deep folder is copied and removed with few descriptors", "[moves]") {
  MovesScene scene;
  constexpr int kLevels = 700;  // more than all tries remove, if each stops where folders moved up
  net::Fd here(::open(scene.folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < kLevels; ++level) {
    REQUIRE(::mkdirat(here.get(), "d", S_IRWXU) == 0);
    // So that the way leads up again before the end.
    REQUIRE(::mkdirat(here.get(), "e", S_IRWXU) == 0);
    here = net::Fd(::openat(here.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  const tests::FewDescriptors few(12);
  CHECK(scene.copy("d", "copied") == UploadStatus::kCreated);
  here = net::Fd(::open(scene.folder.path("copied").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  int levels = 1;
  for (; ::faccessat(here.get(), "d", F_OK, 0) == 0; ++levels) {
    if (::faccessat(here.get(), "e", F_OK, 0) != 0) break;
    here = net::Fd(::openat(here.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  CHECK(levels == kLevels);
  for (const char* const name : {"d", "copied"})
    CHECK(scene.remove(name) == UploadStatus::kReplaced);
  CHECK(scene.names() == NameList{"e"});
}

TEST_CASE("a removal that is ended leaves a hidden folder for the next start", "[moves]") {
  MovesScene scene;
  for (int i = 0; i < 20; ++i) scene.write("a/" + std::to_string(i) + "/x", "x");
  const Moves::GoOn over{[] { return true; }, [] { return false; }};
  CHECK(scene.remove("a", over.may_remove) == UploadStatus::kReplaced);
  CHECK_FALSE(fs::exists(scene.folder.path("a")));
  CHECK_FALSE(scene.names().empty());
  CHECK_FALSE(scene.files->open("a/1/x"));
  scene.uploads.emplace(scene.fence, *scene.files);
  CHECK(scene.names().empty());
}

TEST_CASE("what is deep in a folder is moved near its top to be removed", "[moves]") {
  MovesScene scene;
  constexpr std::size_t kLevels = 300;
  std::string deepest = "d";
  while (deepest.size() < 2 * kLevels - 1) deepest += "/d";
  fs::create_directories(scene.folder.path(deepest));
  REQUIRE(scene.names().size() == kLevels);
  std::size_t asked = 0;  // twice on the way down to each folder
  const Moves::GoOn ended{[] { return true; }, [&] { return ++asked < kLevels; }};
  CHECK(scene.remove("d", ended.may_remove) == UploadStatus::kReplaced);
  CHECK(scene.names().size() < kLevels);
  scene.uploads.emplace(scene.fence, *scene.files);
  CHECK(scene.names().empty());
}

TEST_CASE("another server leaves a folder alone that is being removed", "[moves]") {
  MovesScene scene;
  scene.write("a/b/x", "x");
  scene.write("a/c/x", "x");
  int looks = 0;
  const Moves::GoOn starting{[] { return true; },
                             [&] {
                               if (++looks == 1) {
                                 const NameList before = scene.names();
                                 fileserver::Uploads another(scene.fence, *scene.files);
                                 CHECK(scene.names() == before);
                               }
                               return true;
                             }};
  CHECK(scene.remove("a", starting.may_remove) == UploadStatus::kReplaced);
  CHECK(looks > 0);
  CHECK(scene.names().empty());
}

TEST_CASE("a folder with many folders in it is removed whole", "[moves]") {
  MovesScene scene;
  for (int i = 0; i < 2500; ++i) scene.write("a/" + std::to_string(i) + "/x", "");
  for (int i = 0; i < 2500; ++i) scene.write("a/files/" + std::to_string(i), "");
  CHECK(scene.remove("a") == UploadStatus::kReplaced);
  CHECK(scene.names().empty());
}

TEST_CASE("a removal does not follow links", "[moves]") {
  MovesScene scene;
  scene.write("kept/x", "x");
  scene.write("a/y", "y");
  fs::create_directory_symlink("../kept", scene.folder.path("a/link"));
  CHECK(scene.remove("a") == UploadStatus::kReplaced);
  CHECK(scene.names() == NameList{"kept", "x"});
  CHECK(scene.remove("kept/x") == UploadStatus::kNotFound);
  CHECK(scene.remove("") == UploadStatus::kForbidden);
}

TEST_CASE("what is moved or gone is to be forgotten", "[moves]") {
  const MovesScene scene;
  scene.write("folder/x", "x");
  scene.write("file", "y");
  NotedFiles files;
  fileserver::Uploads uploads(scene.fence, files);
  Moves moves(uploads);
  const auto job = [](std::string_view from, std::string_view to) {
    return Moves::Job{from, false, to, false, true};
  };
  CHECK(moves.move(job("folder", "a"), kAlways, kGoOn) == UploadStatus::kCreated);
  CHECK(files.names == NameList{"folder", "a"});
  CHECK(files.forgotten == fileserver::Names{"a", "folder"});
  CHECK(moves.copy(job("a", "b"), Moves::Depth::kAll, kAlways, kGoOn) == UploadStatus::kCreated);
  CHECK(files.names == NameList{"b"});
  CHECK(files.forgotten == fileserver::Names{"b"});
  files.forgotten.clear();
  CHECK(moves.copy(job("file", "b"), Moves::Depth::kAll, kAlways, kGoOn) ==
        UploadStatus::kReplaced);
  CHECK(files.forgotten == fileserver::Names{"b"});
  files.forgotten.clear();
  CHECK(moves.move(job("b", "c"), kAlways, kGoOn) == UploadStatus::kCreated);
  CHECK(files.forgotten.empty());  // it takes a look at every name
  CHECK(moves.move(job("c", "a"), kAlways, kGoOn) == UploadStatus::kReplaced);
  CHECK(files.forgotten == fileserver::Names{"a", "c"});
  scene.write("last/x", "x");
  CHECK(fileserver::FolderRemovals(uploads).remove("last", kAlways, kGoOn.may_remove) ==
        UploadStatus::kReplaced);
  CHECK(files.names == NameList{"last"});
  CHECK(files.forgotten == fileserver::Names{"last"});
}

TEST_CASE("a move that must not take long replaces no folder", "[moves]") {
  MovesScene scene;
  scene.write("folder/b", "b");
  scene.write("a", "a");
  const auto move = [&](std::string_view from, std::string_view to) {
    return scene.moves.move({from, false, to, false, true, false}, kAlways, kGoOn);
  };
  CHECK(move("a", "folder") == UploadStatus::kGoOn);
  CHECK(scene.names() == NameList{"a", "b", "folder"});
  CHECK(move("a", "c") == UploadStatus::kCreated);
  CHECK(move("folder", "c") == UploadStatus::kReplaced);
  CHECK(scene.names() == NameList{"b", "c"});
}
