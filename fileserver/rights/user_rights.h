// What one user may do with the names of the served folder.
#pragma once

#include <string_view>

namespace fileserver {

// Of one request: it is asked for anew for the next one, so that a change of the rights holds for
// it. Names are as in wire::is_file_name(); empty for the served folder itself.
class UserRights {
 public:
  // Whether what has the name may be read, and whether it may be written.
  bool may_read(std::string_view /*name*/) const { return true; }
  bool may_write(std::string_view name) const { return may_read(name); }

  // The same for the name and all that is or could be below it.
  bool may_read_all(std::string_view name) const { return may_read(name); }
  bool may_write_all(std::string_view name) const { return may_write(name); }

  // Whether a folder of that name is seen, and can be listed: it may be read, or something below
  // it. Always true for the served folder.
  bool may_list(std::string_view folder) const { return may_read(folder); }
};

}  // namespace fileserver
