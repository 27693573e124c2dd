// What a person asks for with `as:` and `by:`, such as "add:amy": docs/protocol.md, "For a person".
//
// Parsing allocates no memory. A parsed wish points into its text, which must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace wire {

// Where a browser uses the token of kAdd and kReset. It stands behind "#", so it is in no log, and
// in no request but the one that uses it.
inline constexpr std::string_view kInvitationPath = "-/invitation";

inline constexpr std::size_t kMaxAppNameBytes = 64;
inline constexpr std::size_t kTokenIdBytes = 22;
inline constexpr std::size_t kMaxLinkPathBytes = 230;  // so that the longest line has room for it
inline constexpr std::size_t kLinkSecretBytes = 43;
inline constexpr std::int64_t kMaxLinkUses = 1'000'000;
inline constexpr std::int64_t kMaxLinkSeconds = std::int64_t{10} * 366 * 86'400;

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
    kPassword,
    kLinks,
    kLink,
    kUnlink,
    kVisit,
    kUse,
    kGoOn
  };

  Kind kind;
  std::string_view user = {};     // of kList: behind whom; empty: from the first on
  std::string_view operand = {};  // the ID of a token, the name of an app, a password, or a link
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

// What a link lets guests do with what it names: have it, or put files into it and see nothing.
enum class GuestsMay : std::uint8_t { kRead, kDrop };
std::string_view word_of(GuestsMay may);
std::optional<GuestsMay> parse_guests_may(std::string_view word);

// A link that is to be made, the operand of `link`: "MAY:SECONDS:USES:SECRET:PATH". 0 stands for no
// end, and for any number of uses. SECRET is made of the password of the link (kLinkSecretBytes of
// base64url), and "-" if it has none; so is the operand of `visit`,
// `use` and `go-on`. PATH is a file name, or a folder with a slash at its end: "/" is the served
// folder.
struct LinkWish {
  GuestsMay may;
  std::int64_t seconds;
  std::int64_t uses;
  std::string_view secret;  // empty: none
  std::string_view path;
};
std::optional<LinkWish> parse_link_wish(std::string_view operand);
std::string text_of(const LinkWish& link);

// The secret, or "-". Nothing if it is neither.
std::optional<std::string_view> parse_link_secret(std::string_view text);
std::string_view text_of_secret(std::string_view secret);

}  // namespace wire
