// The fields of locks: If, Lock-Token and Timeout (RFC 4918, section 10). No sockets, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace http {

inline constexpr std::size_t kMaxIfConditions = 200;

// One condition of If: a state token, or the tag of a version.
struct IfCondition {
  enum class Kind : std::uint8_t { kToken, kTag };

  Kind kind;
  bool is_negated;        // "Not" stands before it
  std::string_view text;  // a token without its angle brackets; a tag with its quotes, and W/
};

// Conditions that all have to hold.
struct IfList {
  // The path of what the list is about, still percent-encoded. Nothing: it is about the path of
  // the request. Scheme and authority were dropped, as those of a target are. Empty if no path is
  // left: the list is about something that is not here.
  std::optional<std::string_view> path;
  std::vector<IfCondition> conditions;  // at least one
};

// A well-formed value of If. It points into the value that was parsed.
struct IfHeader {
  std::vector<IfList> lists;  // at least one
};

// Nothing: it is malformed, or has more than kMaxIfConditions.
std::optional<IfHeader> parse_if(std::string_view value);

// Whether a condition without its "Not" is true of what has the path; nothing is the path of the
// request.
using IsTrue =
    std::function<bool(const std::optional<std::string_view>& path, const IfCondition& condition)>;

// Whether all conditions of one list hold. A condition is only looked at if those before it hold.
bool holds(const IfHeader& header, const IsTrue& is_true);

// The token of Lock-Token: "<urn:uuid:...>" without its angle brackets. Nothing if it is malformed.
std::optional<std::string_view> parse_lock_token(std::string_view value);

// The seconds that Timeout asks for: "Second-600" or "Infinite". The first element of the list that
// is understood counts. Nothing if there is none. Infinite, and what does not fit, is UINT32_MAX.
std::optional<std::uint32_t> parse_timeout(std::string_view value);

}  // namespace http
