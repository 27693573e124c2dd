#include "serve/servers.h"

#include <utility>

#include "wire/error_word.h"
#include "wire/reply.h"

namespace serve {

std::string busy_line() {
  return wire::error_line(base::ErrorCode::kBusy, wire::text_of(base::ErrorCode::kBusy));
}

std::vector<Front> only(Front front) {
  std::vector<Front> fronts;
  fronts.push_back(std::move(front));
  return fronts;
}

}  // namespace serve
