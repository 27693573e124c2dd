#include "loadgen/loops/load.h"

#include "loadgen/loops/burst/burst.h"
#include "loadgen/loops/closed.h"
#include "loadgen/loops/crowd/crowd.h"
#include "loadgen/loops/open.h"
#include "loadgen/loops/users/closed.h"
#include "loadgen/loops/users/open.h"

namespace loadgen {

base::Result<std::unique_ptr<Load>> make_load(const Shared& shared) {
  switch (kind_of(shared.config)) {
    case RunKind::kClosed: break;
    case RunKind::kOpen:
      return has_users(shared.config) ? users::make_open_load(shared) : make_open_load(shared);
    case RunKind::kBurst: return burst::make_load(shared);
    case RunKind::kCrowd: return crowd::make_load(shared);
  }
  return has_users(shared.config) ? users::make_closed_load(shared) : make_closed_load(shared);
}

}  // namespace loadgen
