// What is in the served folder, by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fileserver {

struct FolderListing {
  std::vector<std::string> files;  // sorted
  std::vector<std::string>
      unlisted;  // folders that our side had not the means to list, or not whole: try again
};

// The names of all regular files below root/folder ("" for everything), relative to root; links are
// not followed. What may not be read, or is gone meanwhile, is passed over. `on_folder` is called
// with each folder before what it holds is listed.
FolderListing list_files(const std::string& root, const std::string& folder,
                         const std::function<void(const std::string& folder)>& on_folder);

// "a" and "b" make "a/b"; "" and "b" make "b".
std::string joined(const std::string& folder, const std::string& name);

}  // namespace fileserver
