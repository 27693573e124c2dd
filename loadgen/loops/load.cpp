#include "loadgen/loops/load.h"

#include "loadgen/loops/burst/burst.h"
#include "loadgen/loops/closed.h"
#include "loadgen/loops/crowd/crowd.h"
#include "loadgen/loops/open.h"

namespace loadgen {

base::Result<std::unique_ptr<Load>> make_load(const Shared& shared) {
  switch (kind_of(shared.config)) {
    case RunKind::kClosed: break;
    case RunKind::kOpen: return make_open_load(shared);
    case RunKind::kBurst: return burst::make_load(shared);
    case RunKind::kCrowd: return crowd::make_load(shared);
  }
  return make_closed_load(shared);
}

}  // namespace loadgen
