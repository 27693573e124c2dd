#include "fileserver/files/folder_tree.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "fileserver/files/our_failure.h"

namespace fileserver {

namespace fs = std::filesystem;

FolderListing list_files(const std::string& root, const std::string& folder,
                         const std::function<void(const std::string& folder)>& on_folder) {
  FolderListing listing;
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    on_folder(here);
    std::error_code failure;
    const fs::path path = fs::path(root) / here;
    for (fs::directory_iterator entry(path, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      std::error_code gone;
      const fs::file_type kind = entry->symlink_status(gone).type();
      std::string name = joined(here, entry->path().filename().string());
      if (kind == fs::file_type::directory)
        folders.push_back(std::move(name));
      else if (kind == fs::file_type::regular)
        listing.files.push_back(std::move(name));
    }
    if (is_our_failure(failure.value())) listing.unlisted.push_back(here);
  }
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace fileserver
