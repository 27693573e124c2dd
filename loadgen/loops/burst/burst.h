// A run of type burst: in each round, all threads ask for their files in the same moment.
#pragma once

#include <memory>

#include "base/result.h"
#include "loadgen/loops/load.h"

namespace loadgen::burst {

// `shared` must outlive it. Fails if the server's control group cannot be held.
base::Result<std::unique_ptr<Load>> make_load(const Shared& shared);

}  // namespace loadgen::burst
