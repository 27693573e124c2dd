#include "serve/servers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/host.h"
#include "wire/error_word.h"
#include "wire/reply.h"

namespace serve {

std::string busy_line() {
  return wire::error_line(base::ErrorCode::kBusy, wire::text_of(base::ErrorCode::kBusy));
}

int loops_of(const Options& options) {
  if (options.loops > 0) return options.loops;
  return std::max(1, static_cast<int>(std::lround(base::usable_cores())));
}

std::vector<Front> only(Front front) {
  std::vector<Front> fronts;
  fronts.push_back(std::move(front));
  return fronts;
}

bool serve(std::vector<Front> fronts, const Options& options) {
  if (options.model == Model::kThread) return serve_with_threads(std::move(fronts), options);
  if (options.model == Model::kEvent) return serve_with_events(std::move(fronts), options);
  return serve_with_processes(std::move(fronts), options);
}

}  // namespace serve
