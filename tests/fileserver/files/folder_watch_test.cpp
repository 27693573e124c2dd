#include "fileserver/files/folder_watch.h"

#include <sys/eventfd.h>

#include <filesystem>

#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/temporary_folder.h"

using fileserver::FolderChanges;
using fileserver::FolderListing;
using fileserver::FolderWatch;
using fileserver::is_below;
using fileserver::list_files;
using fileserver::Names;
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
  Names folders;
  const FolderListing listing =
      list_files(folder.path(), "", [&](const std::string& f) { return folders.insert(f).second; });
  CHECK(listing.files == std::vector<std::string>{"a/c", "b"});
  CHECK(listing.unlisted.empty());
  CHECK(folders == Names{"", "a"});
}

TEST_CASE("a folder that cannot be listed without descriptors is reported, one that is gone is not",
          "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("sub/a", "");
  const auto list = [&](const std::string& name) {
    const tests::NoDescriptors none;
    return list_files(folder.path(), name, [](const std::string&) { return true; });
  };
  const FolderListing listing = list("sub");
  CHECK(listing.files.empty());
  CHECK(listing.unlisted == std::vector<std::string>{"sub"});
  CHECK(
      list_files(folder.path(), "gone", [](const std::string&) { return true; }).unlisted.empty());
}

TEST_CASE("a file is reported when its writer closes it", "[files]") {
  Watched watched;
  std::ofstream open_file(watched.folder.path("open"));
  open_file << "half" << std::flush;
  watched.folder.write("closed", "whole");
  CHECK(watched.changes().files == Names{"closed"});
}

TEST_CASE("renamed, linked and removed files are reported", "[files]") {
  Watched watched;
  watched.folder.write("a", "1");
  fs::rename(watched.folder.path("a"), watched.folder.path("b"));
  fs::create_hard_link(watched.folder.path("b"), watched.folder.path("c"));
  CHECK(watched.changes().files == Names{"a", "b", "c"});
  fs::remove(watched.folder.path("b"));
  CHECK(watched.changes().files == Names{"b"});
}

TEST_CASE("new folders are watched, and the old names of moved folders are not", "[files]") {
  Watched watched;
  fs::create_directory(watched.folder.path("sub"));
  CHECK(watched.changes().new_folders == Names{"sub"});
  watched.folder.write("sub/a", "1");
  CHECK(watched.changes().files == Names{"sub/a"});

  fs::rename(watched.folder.path("sub"), watched.folder.path("moved"));
  const FolderChanges moved = watched.changes();
  CHECK(moved.gone_folders == Names{"sub"});
  CHECK(moved.new_folders == Names{"moved"});
  watched.folder.write("moved/b", "1");
  CHECK(watched.changes().files == Names{"moved/b"});
}

TEST_CASE("a folder that left the root reports nothing any more, nor do those in it", "[files]") {
  Watched watched;
  const tests::TemporaryFolder elsewhere;
  fs::create_directories(watched.folder.path("sub/deep"));
  REQUIRE(watched.watch.add("sub"));
  REQUIRE(watched.watch.add("sub/deep"));
  watched.changes();
  fs::rename(watched.folder.path("sub"), elsewhere.path("away"));
  CHECK(watched.changes().gone_folders == Names{"sub"});
  elsewhere.write("away/a", "1");
  elsewhere.write("away/deep/a", "1");
  watched.folder.write("sub-like", "1");
  CHECK(watched.changes().files == Names{"sub-like"});
}

TEST_CASE("a folder is not reported when only its times change", "[files]") {
  Watched watched;
  fs::create_directory(watched.folder.path("sub"));
  watched.changes();
  fs::last_write_time(watched.folder.path("sub"), fs::file_time_type::clock::now());
  watched.folder.write("a", "1");
  CHECK(watched.changes().changed_folders.empty());
}

TEST_CASE("a file is reported when its permissions change", "[files]") {
  Watched watched;
  watched.folder.write("a", "1");
  watched.changes();
  fs::permissions(watched.folder.path("a"), fs::perms::none);
  CHECK(watched.changes().files == Names{"a"});
}

TEST_CASE("one wait does not return more changes than a bound", "[files]") {
  constexpr std::size_t kFiles = 5000;
  Watched watched;
  const std::string long_name(240, 'x');
  for (std::size_t i = 0; i < kFiles; ++i) watched.folder.write(long_name + std::to_string(i), "");
  Names seen = watched.changes().files;
  CHECK(seen.size() < kFiles);
  while (seen.size() < kFiles) seen.merge(watched.changes().files);
}

TEST_CASE("what is below a folder is known by its name", "[files]") {
  CHECK(is_below("a/b", {"a"}));
  CHECK(is_below("a/b/c", {"x", "a/b"}));
  CHECK(is_below("a", {""}));
  for (const char* name : {"", "a", "ab/c", "b/a/c"}) {
    CAPTURE(name);
    CHECK_FALSE(is_below(name, {"a"}));
  }
  CHECK_FALSE(is_below("", {""}));
}
