#include "fileserver/http/dav/lock_properties.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/dav/lock_xml.h"
#include "fileserver/parts.h"

namespace fileserver::dav {

LockProperties lock_properties(Parts& parts, const UserRights& rights) {
  if (parts.offer.uploads != UploadMode::kFolder)
    return {.supported = "", .active_on = [](auto&&...) { return std::string(); }};
  const std::int64_t now_ns = base::now_ns();
  const auto active_on = [&parts, &rights, now_ns](std::string_view name,
                                                   const std::string& lock_name) {
    std::string text;
    std::vector<Lock> locks = parts.locks.covering(lock_name, now_ns);
    const auto is_of_nobody = [&](const Lock& lock) { return has_left(parts, lock.user); };
    while (std::ranges::any_of(locks, is_of_nobody))
      locks = parts.locks.covering(lock_name, now_ns);
    for (Lock& lock : locks) lock = as_told(std::move(lock), rights, name);
    append_active_locks(locks, now_ns, text);
    return text;
  };
  return {.supported = std::string(kSupportedLock), .active_on = active_on};
}

}  // namespace fileserver::dav
