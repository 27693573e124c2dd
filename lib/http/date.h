// Dates of HTTP, in whole seconds since 1970. No clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace http {

// "Sun, 06 Nov 1994 08:49:37 GMT"
struct DateText {
  std::array<char, 29> bytes;
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

// Requires: a year from 1 to 9999.
DateText date_text(std::int64_t seconds);

// Reads the three forms of RFC 9110, section 5.6.7. The day of the week must be one, but may be
// the wrong one. `now` decides in which century a year of two digits is. Nothing if malformed.
std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now);

// Reads X-OC-Mtime, the modification time of an upload: digits. Nothing if malformed, as is a time
// whose nanoseconds have no room in 64 bits.
std::optional<std::int64_t> parse_upload_time(std::string_view text);

}  // namespace http
