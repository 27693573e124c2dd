#include "fileserver/files/folder_tree.h"

#include <filesystem>
#include <set>

#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/temporary_folder.h"

using fileserver::FolderListing;
using fileserver::list_files;
using Names = std::vector<std::string>;
namespace fs = std::filesystem;

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

TEST_CASE(
    "a folder that cannot be listed for want of a descriptor is told of, one that is gone is not",
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
