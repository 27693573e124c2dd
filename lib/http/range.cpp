#include "http/range.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "http/syntax.h"

namespace http {

namespace {

// Reads a position. One with too many digits is behind the end of every file, zeros in front aside.
std::optional<std::uint64_t> position(std::string_view digits) {
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return {};
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return parse_digits(digits).value_or(std::numeric_limits<std::uint64_t>::max());
}

// Reads "0-9", "10-" or "-10". The range is empty if no byte of the file is in it. Nothing if the
// text is malformed.
std::optional<ByteRange> parse_range(std::string_view text, std::uint64_t size_bytes) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view last_text = text.substr(dash + 1);
  if (dash == 0) {
    const auto suffix = position(last_text);
    if (!suffix) return {};
    return ByteRange{size_bytes - std::min(*suffix, size_bytes), size_bytes};
  }
  const auto first = position(text.substr(0, dash));
  const auto last =
      last_text.empty() ? std::numeric_limits<std::uint64_t>::max() : position(last_text);
  if (!first || !last || *last < *first) return {};
  const std::uint64_t begin = std::min(*first, size_bytes);
  return ByteRange{begin, *last < size_bytes ? *last + 1 : size_bytes};
}

// Sorts the parts, and joins those that overlap or touch.
void join(std::vector<ByteRange>& parts) {
  std::ranges::sort(parts, {}, &ByteRange::begin);
  std::size_t joined = 0;
  for (const ByteRange& part : parts) {
    if (joined > 0 && part.begin <= parts[joined - 1].end) {
      parts[joined - 1].end = std::max(parts[joined - 1].end, part.end);
    } else {
      parts[joined++] = part;
    }
  }
  parts.resize(joined);
}

}  // namespace

Ranges parse_ranges(std::string_view value, std::uint64_t size_bytes) {
  constexpr std::string_view kUnit = "bytes=";
  if (!is_same(value.substr(0, kUnit.size()), kUnit)) return {};
  value.remove_prefix(kUnit.size());
  std::vector<ByteRange> parts;
  bool has_range = false;
  std::uint64_t left_bytes = size_bytes;  // what the parts may still ask for
  while (!value.empty()) {
    const std::string_view element = take_element(value);
    if (element.empty()) continue;
    const std::optional<ByteRange> part = parse_range(element, size_bytes);
    if (!part || part->size_bytes() > left_bytes) return {};
    left_bytes -= part->size_bytes();
    has_range = true;
    if (part->size_bytes() > 0) parts.push_back(*part);
  }
  if (!has_range) return {};
  if (parts.empty()) return {Ranges::Kind::kUnsatisfiable};
  join(parts);
  if (parts.size() > kMaxParts) return {};
  return {Ranges::Kind::kParts, std::move(parts)};
}

}  // namespace http
