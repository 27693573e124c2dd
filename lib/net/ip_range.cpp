#include "net/ip_range.h"

#include <algorithm>
#include <charconv>

namespace net {

std::optional<IpRange> IpRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip_address(text.substr(0, slash));
  if (!address) return {};
  const std::size_t most_bits = address->is_v4() ? 32 : 128;
  std::size_t bits = most_bits;
  if (slash != std::string_view::npos) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + slash + 1, end, bits);
    if (read.ec != std::errc() || read.ptr != end || bits > most_bits) return {};
  }
  return IpRange(*address, 128 - most_bits + bits);
}

bool IpRange::contains(const IpAddress& address) const {
  const auto& ours = first_.bytes();
  const auto& other = address.bytes();
  const std::size_t whole = prefix_bits_ / 8;
  if (!std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(whole), other.begin()))
    return false;
  if (prefix_bits_ % 8 == 0) return true;
  const unsigned differing = static_cast<unsigned>(ours[whole]) ^ other[whole];
  return differing >> (8 - prefix_bits_ % 8) == 0;
}

}  // namespace net
