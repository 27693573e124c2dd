#include "wire/wish.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "wire/request.h"

namespace wire {

namespace {

using base::ErrorCode;
using WishKind = Wish::Kind;

constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kNoSecret = "-";

enum class Parts : std::uint8_t { kNone, kMaybeUser, kUser, kUserAndOperand, kOperand };

struct WishRow {
  WishKind kind;
  std::string_view word;
  Parts parts;
  bool may_be_repeated;
};

// In the order of the kinds.
constexpr std::array kWishes{
    WishRow{WishKind::kWho, "who", Parts::kNone, true},
    WishRow{WishKind::kList, "list", Parts::kMaybeUser, true},
    WishRow{WishKind::kAdd, "add", Parts::kUser, false},
    WishRow{WishKind::kReset, "reset", Parts::kUser, true},
    WishRow{WishKind::kDisable, "disable", Parts::kUser, true},
    WishRow{WishKind::kEnable, "enable", Parts::kUser, true},
    WishRow{WishKind::kRemove, "remove", Parts::kUser, false},
    WishRow{WishKind::kSessions, "sessions", Parts::kUser, true},
    WishRow{WishKind::kEnd, "end", Parts::kUserAndOperand, false},
    WishRow{WishKind::kApps, "apps", Parts::kNone, true},
    WishRow{WishKind::kApp, "app", Parts::kOperand, false},
    WishRow{WishKind::kRevoke, "revoke", Parts::kOperand, false},
    WishRow{WishKind::kPassword, "password", Parts::kOperand, false},
    WishRow{WishKind::kLinks, "links", Parts::kNone, true},
    WishRow{WishKind::kLink, "link", Parts::kOperand, false},
    WishRow{WishKind::kUnlink, "unlink", Parts::kOperand, false},
    WishRow{WishKind::kVisit, "visit", Parts::kOperand, true},
    WishRow{WishKind::kUse, "use", Parts::kOperand, false},
    WishRow{WishKind::kGoOn, "go-on", Parts::kOperand, true},
};

const WishRow& row_of(WishKind kind) { return kWishes.at(static_cast<std::size_t>(kind)); }

bool is_acceptable_operand(WishKind kind, std::string_view operand) {
  switch (kind) {
    case WishKind::kApp: return is_app_name(operand);
    case WishKind::kPassword: return is_valid_password(operand);
    case WishKind::kLink: return parse_link_wish(operand).has_value();
    case WishKind::kVisit:
    case WishKind::kUse:
    case WishKind::kGoOn: return parse_link_secret(operand).has_value();
    case WishKind::kEnd:
    case WishKind::kRevoke:
    case WishKind::kUnlink: return is_token_id(operand);
    case WishKind::kWho:
    case WishKind::kList:
    case WishKind::kAdd:
    case WishKind::kReset:
    case WishKind::kDisable:
    case WishKind::kEnable:
    case WishKind::kRemove:
    case WishKind::kSessions:
    case WishKind::kApps:
    case WishKind::kLinks: return false;
  }
  return false;
}

// Takes the part in front of the next colon, or all that is left. Nothing if there is none.
std::optional<std::string_view> take_part(std::optional<std::string_view>& rest) {
  if (!rest) return {};
  const std::size_t colon = rest->find(':');
  const std::string_view part = rest->substr(0, colon);
  rest = colon == std::string_view::npos ? std::nullopt : std::optional(rest->substr(colon + 1));
  return part;
}

// Takes a number up to `most` in front of the next colon.
std::optional<std::int64_t> take_number(std::optional<std::string_view>& rest, std::int64_t most) {
  const auto digits = take_part(rest);
  if (!digits || digits->empty() || digits->front() == '-') return {};
  std::int64_t number = 0;
  const char* const end = digits->data() + digits->size();
  const auto [stop, failure] = std::from_chars(digits->data(), end, number);
  if (failure != std::errc() || stop != end || number > most) return {};
  return number;
}

// A path that a file can have, or that of a folder.
bool is_link_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxLinkPathBytes) return false;
  if (path.ends_with('/')) path.remove_suffix(1);
  return path.empty() || is_file_name(path);
}

constexpr std::array kGuestsMay{std::pair{GuestsMay::kRead, std::string_view("read")},
                                std::pair{GuestsMay::kDrop, std::string_view("drop")}};

bool has_user(Parts parts) { return parts == Parts::kUser || parts == Parts::kUserAndOperand; }
bool has_operand(Parts parts) {
  return parts == Parts::kOperand || parts == Parts::kUserAndOperand;
}

}  // namespace

std::variant<Wish, ErrorCode> parse_wish(std::string_view text) {
  std::optional<std::string_view> rest = text;
  const auto word = take_part(rest);
  const auto* const row = std::ranges::find(kWishes, *word, &WishRow::word);
  if (row == kWishes.end()) return ErrorCode::kSyntax;
  Wish wish{row->kind};
  if (has_user(row->parts) || (row->parts == Parts::kMaybeUser && rest)) {
    const auto user = take_part(rest);
    if (!user) return ErrorCode::kSyntax;
    wish.user = *user;
    if (!is_valid_user(wish.user)) return ErrorCode::kInvalid;
  }
  if (has_operand(row->parts) != rest.has_value()) return ErrorCode::kSyntax;
  if (!rest) return wish;
  wish.operand = *rest;
  return is_acceptable_operand(row->kind, wish.operand)
             ? std::variant<Wish, ErrorCode>(wish)
             : std::variant<Wish, ErrorCode>(ErrorCode::kInvalid);
}

std::string stem_of(const Wish& wish) {
  std::string stem(word_of(wish.kind));
  if (!wish.user.empty()) stem.append(":").append(wish.user);
  if (!wish.operand.empty()) stem += ':';
  return stem;
}

std::string_view word_of(WishKind kind) { return row_of(kind).word; }

bool may_be_repeated(WishKind kind) { return row_of(kind).may_be_repeated; }

bool is_app_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxAppNameBytes && !base::has_control(name);
}

bool is_token_id(std::string_view id) {
  return id.size() == kTokenIdBytes && id.find_first_not_of(kBase64Url) == std::string_view::npos;
}

std::string_view word_of(GuestsMay may) {
  return kGuestsMay.at(static_cast<std::size_t>(may)).second;
}

std::optional<GuestsMay> parse_guests_may(std::string_view word) {
  for (const auto& [may, its_word] : kGuestsMay) {
    if (word == its_word) return may;
  }
  return {};
}

std::optional<LinkWish> parse_link_wish(std::string_view operand) {
  std::optional<std::string_view> rest = operand;
  const auto may = parse_guests_may(*take_part(rest));
  const auto seconds = take_number(rest, kMaxLinkSeconds);
  const auto uses = take_number(rest, kMaxLinkUses);
  const auto secret = parse_link_secret(take_part(rest).value_or(std::string_view()));
  if (!may || !seconds || !uses || !secret || !rest || !is_link_path(*rest)) return {};
  const bool is_folder = rest->ends_with('/');
  if (*may == GuestsMay::kDrop && !is_folder) return {};
  return LinkWish{*may, *seconds, *uses, *secret, *rest};
}

std::string text_of(const LinkWish& link) {
  std::string text(word_of(link.may));
  text.append(":").append(std::to_string(link.seconds));
  text.append(":").append(std::to_string(link.uses));
  text.append(":").append(text_of_secret(link.secret));
  return text.append(":").append(link.path);
}

std::optional<std::string_view> parse_link_secret(std::string_view text) {
  if (text == kNoSecret) return std::string_view();
  const bool is_one = text.size() == kLinkSecretBytes &&
                      text.find_first_not_of(kBase64Url) == std::string_view::npos;
  return is_one ? std::optional(text) : std::nullopt;
}

std::string_view text_of_secret(std::string_view secret) {
  return secret.empty() ? kNoSecret : secret;
}

}  // namespace wire
