// What a person asks for with `as:` and `by:`, such as "add:amy": docs/protocol.md, "For a person".
//
// Parsing allocates no memory. A parsed wish points into its text, which must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace wire {

inline constexpr std::size_t kMaxAppNameBytes = 64;
inline constexpr std::size_t kTokenIdBytes = 22;

struct Wish {
  enum class Kind : std::uint8_t {
    kWho,
    kList,
    kAdd,
    kReset,
    kDisable,
    kEnable,
    kRemove,
    kSessions,
    kEnd,
    kApps,
    kApp,
    kRevoke,
    kPassword
  };

  Kind kind;
  std::string_view user = {};     // of kList: behind whom; empty: from the first on
  std::string_view operand = {};  // the ID of a token, the name of an app, or a password
};

// Nothing is parsed of a text with control bytes. kSyntax for an unknown wish, and for one with
// parts that are missing or too many; kInvalid for a user, an ID, a name or a password that is not
// acceptable.
std::variant<Wish, base::ErrorCode> parse_wish(std::string_view text);

// The words before the operand, with their colons, such as "end:amy:".
std::string stem_of(const Wish& wish);

// What the log calls it.
std::string_view word_of(Wish::Kind kind);

// Whether it may be asked for again if its answer was lost: then too it is done once.
bool may_be_repeated(Wish::Kind kind);

// Whether a text has 1 to 64 bytes, and no control bytes.
bool is_app_name(std::string_view name);

// Whether a text has 22 bytes, all of A-Z a-z 0-9 - _
bool is_token_id(std::string_view id);

}  // namespace wire
