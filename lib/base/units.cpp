#include "base/units.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace base {

namespace {

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0 ||
      text.front() == '-')
    return {};
  return value;
}

int shift_of(char unit) {
  switch (unit) {
    case 'K': return 10;
    case 'M': return 20;
    case 'G': return 30;
    default: return 0;
  }
}

}  // namespace

std::optional<std::int64_t> parse_size_bytes(std::string_view text) {
  if (text.empty()) return {};
  const int shift = shift_of(text.back());
  if (shift != 0) text.remove_suffix(1);
  const auto number = text.empty() ? std::nullopt : parse_whole(text);
  if (!number || *number > (INT64_MAX >> shift)) return {};
  return *number << shift;
}

std::optional<std::int64_t> parse_seconds_as_ms(std::string_view text) {
  constexpr double kTenYearsS = 10 * 366 * 86400.0;
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return {};
  const std::string terminated(text);
  char* end = nullptr;
  const double seconds = std::strtod(terminated.c_str(), &end);
  if (end != terminated.c_str() + terminated.size() || seconds > kTenYearsS) return {};
  const auto ms = std::llround(seconds * 1000);
  // 0 often stands for "never", so a very short time must not become 0.
  return ms == 0 && seconds > 0 ? 1 : ms;
}

std::string human_bytes(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace base
