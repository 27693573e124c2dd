#include "fileserver/files/folder_tree.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace fileserver {

namespace fs = std::filesystem;

std::vector<std::string> list_files(const std::string& root, const std::string& folder,
                                    const std::function<void(const std::string& folder)>& on_folder) {
  std::vector<std::string> files;
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    on_folder(here);
    std::error_code failure;
    const fs::path path = fs::path(root) / here;
    for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
      std::error_code gone;
      const fs::file_type kind = entry->symlink_status(gone).type();
      std::string name = joined(here, entry->path().filename().string());
      if (kind == fs::file_type::directory)
        folders.push_back(std::move(name));
      else if (kind == fs::file_type::regular)
        files.push_back(std::move(name));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace fileserver
