#include "loadgen/config/numbered.h"

namespace loadgen {

std::int64_t file_number(int thread, int count, std::int64_t request) {
  return std::int64_t{thread} * count + request % count + 1;
}

bool has_number(std::string_view pattern) {
  return pattern.find(kNumberMark) != std::string_view::npos;
}

std::string numbered(std::string_view pattern, std::int64_t number) {
  std::string name;
  for (;;) {
    const std::size_t mark = pattern.find(kNumberMark);
    name += pattern.substr(0, mark);
    if (mark == std::string_view::npos) return name;
    name += std::to_string(number);
    pattern.remove_prefix(mark + kNumberMark.size());
  }
}

}  // namespace loadgen
