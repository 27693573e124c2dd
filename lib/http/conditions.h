// Entity tags, and the conditions of RFC 9110, section 13. No clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/request_head.h"

namespace http {

enum class Strength : std::uint8_t {
  kStrong,
  kWeak,  // the next version may have the same size and time
};

// An entity tag with its quotes, and W/ before them if it is weak. Replicas that serve copies of
// one folder give the same strong tag, so a client may go on at another one. A weak tag is never
// the strong one of the same size and time, with and without its W/.
class EntityTag {
 public:
  EntityTag(std::uint64_t size_bytes, std::int64_t modified_ns,
            Strength strength = Strength::kStrong);
  std::string_view view() const { return {text_.data(), size_}; }
  bool is_weak() const { return text_[0] == 'W'; }

 private:
  std::array<char, 40> text_;
  std::uint8_t size_;
};

// A version of a file as clients know it.
struct Validators {
  Validators(std::uint64_t size_bytes, std::int64_t modified_ns, std::int64_t now_s,
             Strength strength = Strength::kStrong);

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
// count. `now` is for dates whose year has two digits. A weak tag names nothing, and what has one
// is never kNotModified: the client may have other bytes of that size and time.
Verdict evaluate(const RequestHead& head, const Validators* current, std::int64_t now_s);

// Whether Range counts: If-Range did not come, or is the strong tag. A date never matches, because
// several versions may be of one second. Nor does anything match a weak tag.
bool if_range_holds(const RequestHead& head, const Validators& current);

}  // namespace http
