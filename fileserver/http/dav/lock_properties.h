// What PROPFIND says about locks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fileserver/rights/user_rights.h"

namespace fileserver {
struct Parts;
}

namespace fileserver::dav {

// Elements of XML in which the prefix D stands for DAV:.
struct LockProperties {
  std::string supported;  // the content of DAV:supportedlock

  // The content of DAV:lockdiscovery: the locks on a name, which is empty for the served folder,
  // and is kept as `lock_name`. May ask the authserver.
  std::function<std::string(std::string_view name, const std::string& lock_name)> active_on;
};

// Locks are described as this user may know them. Both must outlive what is returned.
LockProperties lock_properties(Parts& parts, const UserRights& rights);

}  // namespace fileserver::dav
