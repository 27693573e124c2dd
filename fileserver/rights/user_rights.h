// What one user may do with the names of the served folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fileserver/rights/rights_table.h"

namespace fileserver {

// Of one request: it is asked for anew for the next one, so that a change of the rights holds for
// it. Names are as in wire::is_file_name(); empty for the served folder itself.
//
// Any thread; a copy asks the same rules.
class UserRights {
 public:
  // Everything is allowed.
  UserRights() = default;

  // What the table allows this user.
  UserRights(std::shared_ptr<const RightsTable> table, std::string_view user)
      : table_(std::move(table)), user_(user), member_(&table_->member(user)) {}

  // The served folder and all paths at which a line decides, sorted. Line 0: none does.
  std::vector<RightsTable::DecidedPath> decided() const {
    if (table_ == nullptr) return {{"", {Right::kReadWrite, 0}}};
    return table_->decided({user_, *member_});
  }

  // What is left of the rights for who has a link of the user to this: nothing outside of it, and
  // in it not more than `most`. `is_folder`: what lies below it counts, too.
  struct Bounds {
    std::string path;  // empty: the served folder
    bool is_folder;
    Right most;
  };
  UserRights within(Bounds bounds) const {
    UserRights bounded = *this;
    bounded.bounds_ = std::move(bounds);
    return bounded;
  }

  // Whether what has the name may be read, and whether it may be written.
  bool may_read(std::string_view name) const { return may(name, Right::kRead); }
  bool may_write(std::string_view name) const { return may(name, Right::kReadWrite); }

  // The same for the name and all that is or could be below it.
  bool may_read_all(std::string_view name) const { return may_all(name, Right::kRead); }
  bool may_write_all(std::string_view name) const { return may_all(name, Right::kReadWrite); }

  // Whether a folder of that name is seen, and can be listed: it may be read, or something below
  // it. Always true for the served folder, if there are no bounds.
  bool may_list(std::string_view folder) const {
    return bounds_allow(folder, Right::kRead) &&
           (table_ == nullptr || folder.empty() ||
            table_->allows_any({user_, *member_}, folder, Right::kRead));
  }

 private:
  bool may(std::string_view name, Right right) const {
    return bounds_allow(name, right) &&
           (table_ == nullptr || table_->decide({user_, *member_}, name).right >= right);
  }
  bool may_all(std::string_view name, Right right) const {
    return bounds_allow(name, right) &&
           (table_ == nullptr || table_->allows_all({user_, *member_}, name, right));
  }
  bool bounds_allow(std::string_view name, Right right) const {
    if (!bounds_) return true;
    const std::string_view path = bounds_->path;
    const bool is_inside = path.empty() || name == path ||
                           (bounds_->is_folder && name.size() > path.size() &&
                            name.starts_with(path) && name[path.size()] == '/');
    return is_inside && right <= bounds_->most;
  }

  // Shared, so that rights that are read again do not end those of a request under way.
  std::shared_ptr<const RightsTable> table_;  // null: everything is allowed
  std::string user_;
  const RightsTable::Member* member_ = nullptr;  // of the table
  std::optional<Bounds> bounds_;
};

}  // namespace fileserver
