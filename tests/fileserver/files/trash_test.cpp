#include "fileserver/files/trash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/folder_removals.h"
#include "fileserver/files/moves.h"
#include "fileserver/files/upload_name.h"
#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/fileserver/files/upload_scene.h"

using fileserver::FolderRemovals;
using fileserver::Moves;
using fileserver::Trash;
using fileserver::Trashed;
using fileserver::TrashPlace;
using fileserver::UploadStatus;
using tests::content_of;
using tests::kAlways;

namespace {

namespace fs = std::filesystem;

const Moves::GoOn kGoOnWithTrash{[] { return true; }, [] { return true; }};
constexpr int kDays = 7;

struct TrashScene : tests::UploadScene {
  TrashScene() {
    auto opened = Trash::open(fence, kDays);
    REQUIRE(opened);
    trash = std::move(*opened);
    uploads.emplace(fence, *files, trash.get());
  }
  ~TrashScene() { uploads.reset(); }

  std::string in_trash(const std::string& last) const {
    return folder.path(std::string(fileserver::kTrashFolder) + "/" + last);
  }
  // The newest first.
  std::vector<Trashed> kept() const {
    std::vector<Trashed> all;
    for (const std::string& id : trash->newest_ids()) {
      if (auto trashed = trash->find(id)) all.push_back(std::move(*trashed));
    }
    return all;
  }
  // The names of what is kept, and its content.
  std::vector<std::string> contents() const {
    std::vector<std::string> all;
    for (const Trashed& trashed : kept())
      all.push_back(trashed.name + "=" + content_of(in_trash(trashed.id)));
    return all;
  }
  // Everything in the folder of the trash.
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(in_trash("")), fs::directory_iterator()));
  }
  UploadStatus remove(const std::string& name) { return uploads->remove(name, kAlways); }
  UploadStatus remove_folder(const std::string& name) {
    return FolderRemovals(*uploads).remove(name, kAlways, kGoOnWithTrash.may_remove);
  }
  UploadStatus move(std::string_view from, std::string_view to) {
    return moves.move({from, false, to, false, true}, kAlways, kGoOnWithTrash);
  }
  UploadStatus copy(std::string_view from, std::string_view to) {
    return moves.copy({from, false, to, false, true}, Moves::Depth::kAll, kAlways, kGoOnWithTrash);
  }
  // What a server of before could have left, eleven minutes ago.
  std::string leave(const std::string& record, const std::string& content) const {
    const auto time = static_cast<std::uint64_t>((base::unix_time_s() - 660) * 1e9);
    std::string id = fmt::format("{:016x}{:016x}", time, left++);
    if (!record.empty()) std::ofstream(in_trash(id + ".old")) << record;
    if (!content.empty()) std::ofstream(in_trash(id)) << content;
    return id;
  }

  std::unique_ptr<Trash> trash;
  Moves moves{*uploads};
  mutable int left = 0;
};

using Contents = std::vector<std::string>;

}  // namespace

TEST_CASE("a deleted file lies in the trash until it is put back", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  CHECK(scene.remove("a") == UploadStatus::kReplaced);
  CHECK_FALSE(scene.files->open("a"));
  CHECK(scene.contents() == Contents{"a=one"});
  const Trashed trashed = scene.kept().front();
  CHECK_FALSE(trashed.is_folder);
  CHECK(scene.trash->has_of("a"));
  CHECK_FALSE(scene.trash->has_of("aa"));
  CHECK(trashed.size_bytes == 3);
  scene.put("a", "two");
  CHECK(scene.uploads->put_back(trashed) == UploadStatus::kConflict);
  CHECK(scene.on_disk("a") == "two");
  fs::remove(scene.folder.path("a"));
  CHECK(scene.uploads->put_back(trashed) == UploadStatus::kCreated);
  CHECK(scene.on_disk("a") == "one");
  CHECK(scene.files->open("a"));
  CHECK(scene.entries() == 0);
  CHECK(scene.uploads->put_back(trashed) == UploadStatus::kNotFound);
  CHECK(scene.on_disk("a") == "one");
}

TEST_CASE("what is replaced lies in the trash, however it is replaced", "[trash]") {
  TrashScene scene;
  for (const char* name : {"a", "b", "c"}) scene.put(name, name);
  scene.put("a", "new");
  CHECK(scene.contents() == Contents{"a=a"});
  CHECK(scene.move("a", "b") == UploadStatus::kReplaced);
  CHECK(scene.copy("b", "c") == UploadStatus::kReplaced);
  CHECK(scene.contents() == Contents{"c=c", "b=b", "a=a"});
  CHECK(scene.on_disk("c") == "new");
  REQUIRE(scene.uploads->make_folder("f") == UploadStatus::kCreated);
  scene.put("f/x", "deep");
  CHECK(scene.copy("b", "f") == UploadStatus::kReplaced);
  CHECK(scene.kept().front().is_folder);
  CHECK(content_of(scene.in_trash(scene.kept().front().id) + "/x") == "deep");
  CHECK(scene.move("b", "f") == UploadStatus::kReplaced);
  REQUIRE(scene.uploads->make_folder("g") == UploadStatus::kCreated);
  CHECK(scene.copy("g", "f") == UploadStatus::kReplaced);  // a folder over a file
  CHECK(scene.move("g", "f") == UploadStatus::kReplaced);
  CHECK(scene.kept().size() == 7);
  CHECK(scene.entries() == 14);
}

TEST_CASE("a folder goes to the trash and back with all that is in it", "[trash]") {
  TrashScene scene;
  scene.uploads->make_folder("f");
  scene.uploads->make_folder("f/g");
  scene.put("f/g/a", "one");
  scene.remove("f/g/a");
  scene.put("f/g/b", "two");
  CHECK(scene.remove("f") == UploadStatus::kConflict);
  CHECK(scene.remove_folder("f") == UploadStatus::kReplaced);
  CHECK_FALSE(fs::exists(scene.folder.path("f")));
  const auto kept = scene.kept();
  REQUIRE(kept.size() == 2);
  CHECK(scene.trash->has_of("f/g"));
  CHECK_FALSE(scene.trash->has_of("f/g/"));
  CHECK(scene.uploads->put_back(kept[1]) == UploadStatus::kConflict);  // its folder is away
  CHECK(scene.uploads->put_back(kept[0]) == UploadStatus::kCreated);
  CHECK(scene.uploads->put_back(kept[1]) == UploadStatus::kCreated);
  CHECK(scene.on_disk("f/g/a") == "one");
  CHECK(scene.files->open("f/g/b"));
  scene.uploads->make_folder("empty");
  CHECK(scene.remove("empty") == UploadStatus::kReplaced);
  CHECK(scene.kept().front().name == "empty");
}

TEST_CASE("where the trash cannot be listed, it may have any name", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  REQUIRE(scene.remove("a") == UploadStatus::kReplaced);
  CHECK_FALSE(scene.trash->has_of("other"));
  scene.put("b", "two");
  REQUIRE(scene.remove("b") == UploadStatus::kReplaced);
  const tests::OneDescriptor enough_for_the_folder_but_not_to_list_it;
  CHECK(scene.trash->has_of("other"));
}

TEST_CASE("each record of the trash is read once to find a name", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  REQUIRE(scene.remove("a") == UploadStatus::kReplaced);
  CHECK(scene.trash->has_of("a"));
  const Trashed trashed = scene.kept().front();
  // No server does so: it shows what is read.
  std::ofstream(scene.in_trash(trashed.id + ".old")) << "turnstile-trash 1\nnot 0\nname other\n";
  scene.put("b", "two");
  REQUIRE(scene.remove("b") == UploadStatus::kReplaced);
  CHECK(scene.trash->has_of("b"));
  CHECK(scene.trash->has_of("a"));
  CHECK_FALSE(scene.trash->has_of("other"));
  CHECK(scene.uploads->put_back(trashed) == UploadStatus::kCreated);
  CHECK_FALSE(scene.trash->has_of("a"));
  CHECK(scene.trash->has_of("b"));
}

TEST_CASE("a link is removed, and what it leads to stays", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  fs::create_symlink("a", scene.folder.path("link"));
  fs::create_symlink("a", scene.folder.path("other"));
  CHECK(scene.remove("link") == UploadStatus::kReplaced);
  scene.put("other", "two");
  CHECK(scene.on_disk("a") == "one");
  CHECK(scene.on_disk("other") == "two");
  CHECK(scene.entries() == 0);
}

TEST_CASE("what goes elsewhere by a copy is not deleted", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  CHECK(scene.uploads->remove("a", kAlways, fileserver::Uploads::Keep::kNot) ==
        UploadStatus::kReplaced);
  scene.uploads->make_folder("f");
  CHECK(FolderRemovals(*scene.uploads)
            .remove("f", kAlways, kGoOnWithTrash.may_remove, fileserver::Uploads::Keep::kNot) ==
        UploadStatus::kReplaced);
  CHECK(scene.entries() == 0);
}

TEST_CASE("no name leads into the trash", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  scene.remove("a");
  const std::string id = scene.kept().front().id;
  for (const std::string folder : {".turnstile-trash", ".Turnstile-TRASH", "x/.turnstile-trash",
                                   ".turnstile-trash. .", ".TURNSTILE-Upload-parts"}) {
    CAPTURE(folder);
    CHECK(fileserver::is_upload_name(folder));
    CHECK(fileserver::is_upload_name(folder + "/" + id));
    CHECK_FALSE(scene.files->open(folder + "/" + id));
    CHECK(scene.put(folder + "/" + id, "x") == UploadStatus::kConflict);
    CHECK(scene.remove(folder) == UploadStatus::kNotFound);
    CHECK(scene.move(folder, "b") == UploadStatus::kNotFound);
    CHECK(scene.uploads->make_folder(folder) == UploadStatus::kConflict);
  }
  CHECK_FALSE(fileserver::is_upload_name(".turnstile-trash2"));
  CHECK_FALSE(fileserver::is_upload_name("turnstile-trash"));
}

TEST_CASE("what a killed server has left is not shown, and goes", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  const std::string first = "turnstile-trash 1\n";
  scene.leave(first + "not 0\nname gone\n", "");  // nothing came
  // The new file, which was not exchanged for the old one yet.
  const std::string id = scene.leave("x", "upload");
  struct stat status {};
  REQUIRE(::stat(scene.in_trash(id).c_str(), &status) == 0);
  std::ofstream(scene.in_trash(id + ".old")) << first << "not " << status.st_ino << "\nname a\n";
  // The old file, which has its first name still.
  const std::string linked = scene.leave(first + "not 0\nname a\n", "");
  fs::create_hard_link(scene.folder.path("a"), scene.in_trash(linked));
  std::ofstream(scene.in_trash(std::string(32, 'f') + ".gone")) << "x";
  CHECK(scene.kept().empty());
  scene.trash->tidy();
  CHECK(scene.entries() == 0);
  CHECK(scene.on_disk("a") == "one");
}

TEST_CASE("a place that is in use is left alone", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  {
    TrashPlace place = scene.trash->begin("a");
    REQUIRE(place.is_open());
    const std::string name = place.name().last;
    std::ofstream(scene.in_trash(name)) << "not yet";
    CHECK_FALSE(scene.trash->remove_soon(name));
    CHECK_FALSE(scene.trash->remove_oldest());
    CHECK(fs::exists(scene.in_trash(name)));
    fs::remove(scene.in_trash(name));
  }
  CHECK(scene.entries() == 0);
}

TEST_CASE("a file that is linked to the trash and not replaced stays where it was", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  const net::Fd folder(::open(scene.folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  const std::string last = "a";
  TrashPlace place = scene.trash->begin("a");
  REQUIRE(place.take_link({folder.get(), last}) == TrashPlace::Taken::kYes);
  CHECK(scene.kept().empty());
  place.give_back("a");
  CHECK_FALSE(place.is_taken());
  CHECK(scene.on_disk("a") == "one");
  REQUIRE(place.take({folder.get(), last}) == TrashPlace::Taken::kYes);
  place.give_back("a");
  CHECK(scene.on_disk("a") == "one");
  place = {};
  CHECK(scene.entries() == 0);
}

TEST_CASE("what is too old goes", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  scene.put("b", "two");
  scene.remove("a");
  scene.remove("b");
  const std::string id = scene.kept().back().id;
  const auto time = static_cast<std::uint64_t>((base::unix_time_s() - kDays * 86'400.0 - 1) * 1e9);
  const std::string old = fmt::format("{:016x}", time) + id.substr(16);
  fs::rename(scene.in_trash(id), scene.in_trash(old));
  fs::rename(scene.in_trash(id + ".old"), scene.in_trash(old + ".old"));
  scene.trash->tidy();
  CHECK(scene.contents() == Contents{"b=two"});
  CHECK(scene.entries() == 2);
}

TEST_CASE("the oldest goes first, and small files go together", "[trash]") {
  TrashScene scene;
  const std::string large(1 << 20, 'x');
  for (const char* name : {"a", "b", "c"}) {
    scene.put(name, large);
    scene.remove(name);
  }
  CHECK(scene.trash->removable_bytes(scene.trash->folder().get()) >= 3 * large.size());
  CHECK(scene.trash->remove_oldest());
  REQUIRE(scene.kept().size() == 2);
  CHECK(scene.kept().back().name == "b");
  for (int i = 0; i < 5; ++i) {
    scene.put("small", "x");
    scene.remove("small");
  }
  CHECK(scene.trash->remove_oldest());
  CHECK(scene.trash->remove_oldest());
  CHECK(scene.kept().size() == 5);
  CHECK(scene.trash->remove_oldest());
  CHECK(scene.kept().empty());
  CHECK_FALSE(scene.trash->remove_oldest());
}

TEST_CASE("what was ended is gone at once", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  scene.remove("a");
  const std::string id = scene.kept().front().id;
  CHECK(scene.trash->remove_soon(id));
  CHECK(scene.kept().empty());
  CHECK_FALSE(scene.trash->find(id));
  CHECK_FALSE(scene.trash->remove_soon(id));
}

TEST_CASE("a record that is malformed is none", "[trash]") {
  TrashScene scene;
  const std::string first = "turnstile-trash 1\n";
  for (const std::string& record :
       {std::string("x"), std::string("turnstile-trash 2\nnot 0\nname a\n"), first,
        first + "not 0\n", first + "not\nname a\n", first + "not 0  \nname a\n",
        first + "not -1\nname a\n", first + "not 0\nname a", first + "not 0\nname \n",
        first + "not 0\nname ../a\n", first + "not 0\nname /a\n",
        first + "not 0\nname .turnstile-trash/a\n", first + "not 0\nname a\nb\n",
        first + "not 0\nname " + std::string(9000, 'a') + "\n"}) {
    CAPTURE(record);
    const std::string id = scene.leave(record, "content");
    CHECK_FALSE(scene.trash->find(id));
  }
  CHECK(scene.trash->find(scene.leave(first + "not 0\nname a b/ c\n", "content")));
  for (const char* id : {"", "x", "../../../../../../../../etc/passwd", ".", "a/b"})
    CHECK_FALSE(scene.trash->find(id));
}

TEST_CASE("the folder of the trash is made again when its owner has removed it", "[trash]") {
  TrashScene scene;
  scene.put("a", "one");
  scene.remove("a");
  fs::remove_all(scene.in_trash(""));
  CHECK(scene.kept().empty());
  scene.put("a", "two");
  CHECK(scene.remove("a") == UploadStatus::kReplaced);
  CHECK(scene.contents() == Contents{"a=two"});
}

TEST_CASE("a link in place of the trash is not followed", "[trash]") {
  tests::UploadScene scene;
  fs::create_directory(scene.folder.path("elsewhere"));
  fs::create_directory_symlink("elsewhere", scene.folder.path(".turnstile-trash"));
  const auto opened = Trash::open(scene.fence, kDays);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().context.starts_with("--trash cannot be used: "));
}
