// Which folders below a folder are links. What goes through all folders leaves them out: one may
// lead to a folder that it is in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fileserver/files/fence.h"
#include "fileserver/http/listing.h"

namespace fileserver {

// Threads: one. The fence and the text must outlive it.
class FolderLinks {
 public:
  FolderLinks(const Fence& fence, std::string_view root) : fence_(fence), root_(root) {}

  // Of each entry of the folder `inside` the root, whether it is a link to a folder. Looks at all
  // of them in one job of a helper.
  std::vector<bool> among(std::span<const ListedEntry> some, std::string_view inside);

 private:
  bool is_link(const std::string& inside);

  const Fence& fence_;
  const std::string_view root_;
  std::optional<std::string> real_root_;  // the name without links
};

}  // namespace fileserver
