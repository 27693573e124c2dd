#include "loadgen/outlook.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "loadgen/figures/format.h"

namespace loadgen {

namespace {

// Most runs end sooner than that, and need no explanation.
constexpr std::int64_t kSilentNs = 300 * base::kNsPerMs;

}  // namespace

std::optional<Cause> Outlook::hopeless(std::int64_t now_ns, const Live& live) const {
  if (begun_ns_ == 0 || now_ns - begun_ns_ < base::kNsPerS) return {};
  return live.outcomes.hopeless();
}

std::string Outlook::tell(std::int64_t now_ns, const Live& live) {
  if (!has_to_tell() || now_ns - signal_ns_ < kSilentNs || live.under_way == 0) return {};
  has_told_ = true;
  return fmt::format("loadgen: waiting for {} under way; again to quit without results\n",
                     counted(live.under_way, "request"));
}

}  // namespace loadgen
