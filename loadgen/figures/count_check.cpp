#include "loadgen/figures/count_check.h"

#include <fmt/core.h>

namespace loadgen {

CountCheck count_of(const Tally& tally) {
  CountCheck check{.loadgen = tally.all_succeeded, .doubtful = tally.all_failed + tally.reconnects};
  if (tally.crowd) {
    check.loadgen = tally.succeeded();
    check.doubtful = tally.errors_total() + tally.crowd->broken_off;
  }
  return check;
}

std::string text_of(const CountCheck& check) {
  if (!check.why_unknown.empty()) return "not known";
  return fmt::format("the server answered {} requests, {} here", check.server, check.loadgen);
}

std::optional<std::string> fault_of(const CountCheck& check) {
  if (!check.why_unknown.empty())
    return fmt::format("the server's own count is not known: {}", check.why_unknown);
  if (check.agrees()) return {};
  return fmt::format(
      "the server counted {} requests and loadgen {}: somebody else uses the server, or one of the "
      "two counts wrongly",
      check.server, check.loadgen);
}

}  // namespace loadgen
