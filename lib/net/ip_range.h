// A range of IP addresses.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "net/ip_address.h"

namespace net {

// All addresses that begin with the same bits as one of them. It owns nothing.
class IpRange {
 public:
  // Reads "10.0.0.0/8", "2001:db8::/32", or one address, which is a range of its own. Bits behind
  // the prefix are passed over. Returns nothing for any other text.
  static std::optional<IpRange> parse(std::string_view text);

  bool contains(const IpAddress& address) const;

 private:
  IpRange(const IpAddress& first, std::size_t prefix_bits)
      : first_(first), prefix_bits_(prefix_bits) {}

  IpAddress first_;
  std::size_t prefix_bits_;  // of the 16 bytes
};

}  // namespace net
