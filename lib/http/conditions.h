// Entity tags, and the conditions of RFC 9110, section 13. No clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/request_head.h"

namespace http {

// A strong entity tag with its quotes. Replicas that serve copies of one folder give the same tag,
// so a client may go on at another one.
class EntityTag {
 public:
  EntityTag(std::uint64_t size_bytes, std::int64_t modified_ns);
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 40> text_;
  std::uint8_t size_;
};

// A version of a file as clients know it.
struct Validators {
  Validators(std::uint64_t size_bytes, std::int64_t modified_ns, std::int64_t now_s);

  EntityTag tag;
  // Whole seconds. Nothing if the time is before 1970 or after `now`; the file then has no
  // Last-Modified, and conditions with dates do not count.
  std::optional<std::int64_t> modified;
};

enum class Verdict : std::uint8_t {
  kGoOn,
  kNotModified,         // 304; for GET and HEAD only
  kPreconditionFailed,  // 412
};

// Evaluates the conditions in the order of section 13.2.2, but for If-Range. `current` is null if
// the file is not there. A date that is malformed, and a field that came twice and may not, do not
// count. `now` is for dates whose year has two digits.
Verdict evaluate(const RequestHead& head, const Validators* current, std::int64_t now_s);

// Whether Range counts: If-Range did not come, or is the strong tag. A date never matches, because
// several versions may be of one second.
bool if_range_holds(const RequestHead& head, const Validators& current);

}  // namespace http
