#include "base/error.h"

#include <system_error>

namespace base {

Error errno_error(ErrorCode code, std::string_view what_was_tried, int errno_value) {
  std::string context(what_was_tried);
  context += ": ";
  context += std::generic_category().message(errno_value);
  return {code, std::move(context)};
}

}  // namespace base
