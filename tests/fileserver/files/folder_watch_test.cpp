#include "fileserver/files/folder_watch.h"

#include <sys/eventfd.h>

#include <filesystem>

#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/temporary_folder.h"

using fileserver::FolderChanges;
using fileserver::FolderListing;
using fileserver::FolderWatch;
using fileserver::list_files;
using Names = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

struct Watched {
  Watched() { REQUIRE(watch.add("")); }
  FolderChanges changes() { return watch.wait(base::Deadline::in_ms(60'000), never.get()); }

  tests::TemporaryFolder folder;
  FolderWatch watch = std::move(*FolderWatch::on(folder.path()));
  net::Fd never{::eventfd(0, EFD_CLOEXEC)};
};

}  // namespace

TEST_CASE("a tree is listed without its links", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("b", "");
  folder.write("a/c", "");
  fs::create_symlink("b", folder.path("link"));
  fs::create_directory_symlink("a", folder.path("folder-link"));
  std::set<std::string> folders;
  const FolderListing listing =
      list_files(folder.path(), "", [&](const std::string& f) { folders.insert(f); });
  CHECK(listing.files == Names{"a/c", "b"});
  CHECK(listing.unlisted.empty());
  CHECK(folders == std::set<std::string>{"", "a"});
}

TEST_CASE("a folder that cannot be listed without descriptors is reported, one that is gone is not",
          "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("sub/a", "");
  const auto list = [&](const std::string& name) {
    const tests::NoDescriptors none;
    return list_files(folder.path(), name, [](const std::string&) {});
  };
  const FolderListing listing = list("sub");
  CHECK(listing.files.empty());
  CHECK(listing.unlisted == Names{"sub"});
  CHECK(list_files(folder.path(), "gone", [](const std::string&) {}).unlisted.empty());
}

TEST_CASE("a file is reported when its writer closes it", "[files]") {
  Watched watched;
  std::ofstream open_file(watched.folder.path("open"));
  open_file << "half" << std::flush;
  watched.folder.write("closed", "whole");
  CHECK(watched.changes().files == std::set<std::string>{"closed"});
}

TEST_CASE("renamed, linked and removed files are reported", "[files]") {
  Watched watched;
  watched.folder.write("a", "1");
  fs::rename(watched.folder.path("a"), watched.folder.path("b"));
  fs::create_hard_link(watched.folder.path("b"), watched.folder.path("c"));
  CHECK(watched.changes().files == std::set<std::string>{"a", "b", "c"});
  fs::remove(watched.folder.path("b"));
  CHECK(watched.changes().files == std::set<std::string>{"b"});
}

TEST_CASE("new folders are watched, and the old names of moved folders are not", "[files]") {
  Watched watched;
  fs::create_directory(watched.folder.path("sub"));
  CHECK(watched.changes().new_folders == std::set<std::string>{"sub"});
  watched.folder.write("sub/a", "1");
  CHECK(watched.changes().files == std::set<std::string>{"sub/a"});

  fs::rename(watched.folder.path("sub"), watched.folder.path("moved"));
  const FolderChanges moved = watched.changes();
  CHECK(moved.gone_folders == std::set<std::string>{"sub"});
  CHECK(moved.new_folders == std::set<std::string>{"moved"});
  watched.folder.write("moved/b", "1");
  CHECK(watched.changes().files == std::set<std::string>{"moved/b"});
}
