#include "fileserver/dav/lock_properties.h"

namespace fileserver::dav {

// There are no locks yet.
LockProperties lock_properties(Parts& /*parts*/) {
  return {.supported = "", .active_on = [](std::string_view) { return std::string(); }};
}

}  // namespace fileserver::dav
