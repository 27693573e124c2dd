#include "telemetry/counters.h"

#include <algorithm>

namespace telemetry {

void record(Timed timed, std::int64_t duration_ns) {
  const auto bound = std::ranges::find_if(
      kBoundsNs, [duration_ns](std::int64_t most_ns) { return duration_ns <= most_ns; });
  const std::size_t first = index_of(timed);
  my_slot->add(first + static_cast<std::size_t>(bound - kBoundsNs.begin()), 1);
  my_slot->add(first + kBuckets,
               static_cast<std::uint64_t>(std::max<std::int64_t>(duration_ns, 0)));
}

void RequestTimer::count_and_record(Verb verb, Outcome outcome, Ending ending) const {
  count_request(verb, outcome, ending);
  if (verb != Verb::kOther) record(static_cast<Timed>(verb), base::now_ns() - start_ns_);
}

}  // namespace telemetry
