#include "wire/wish.h"

#include <algorithm>
#include <array>
#include <optional>

#include "wire/request.h"

namespace wire {

namespace {

using base::ErrorCode;
using WishKind = Wish::Kind;

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
};

const WishRow& row_of(WishKind kind) { return kWishes.at(static_cast<std::size_t>(kind)); }

bool is_acceptable_operand(WishKind kind, std::string_view operand) {
  if (kind == WishKind::kApp) return is_app_name(operand);
  if (kind == WishKind::kPassword) return is_valid_password(operand);
  return is_token_id(operand);
}

// Takes the part in front of the next colon, or all that is left. Nothing if there is none.
std::optional<std::string_view> take_part(std::optional<std::string_view>& rest) {
  if (!rest) return {};
  const std::size_t colon = rest->find(':');
  const std::string_view part = rest->substr(0, colon);
  rest = colon == std::string_view::npos ? std::nullopt : std::optional(rest->substr(colon + 1));
  return part;
}

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
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && name.size() <= kMaxAppNameBytes && std::ranges::none_of(name, is_control);
}

bool is_token_id(std::string_view id) {
  constexpr std::string_view kBytes =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return id.size() == kTokenIdBytes && id.find_first_not_of(kBytes) == std::string_view::npos;
}

}  // namespace wire
