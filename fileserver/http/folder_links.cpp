#include "fileserver/http/folder_links.h"

#include <algorithm>
#include <utility>

#include "base/waits.h"

namespace fileserver {

std::vector<bool> FolderLinks::among(std::span<const ListedEntry> some, std::string_view inside) {
  std::vector<bool> links(some.size());
  if (std::ranges::none_of(some, &ListedEntry::is_folder)) return links;
  base::may_block([&] {
    for (std::size_t i = 0; i < some.size(); ++i)
      links[i] = some[i].is_folder && is_link(joined(inside, some[i].name));
  });
  return links;
}

// May block.
bool FolderLinks::is_link(const std::string& inside) {
  const auto found = fence_.find_folder(joined(root_, inside));
  if (!found) return true;  // it is gone
  if (!real_root_) {
    auto root = fence_.find_folder(root_);
    if (!root) return true;
    real_root_ = std::move(root->name);
  }
  return found->name != joined(*real_root_, inside);
}

}  // namespace fileserver
