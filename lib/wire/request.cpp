#include "wire/request.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "base/text.h"

namespace wire {

namespace {

using base::ErrorCode;
using base::has_control;

bool is_letter_or_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_user_byte(char c) {
  return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '@' || c == '+';
}

// Splits what follows the verb: "USER:PASSWORD", or " USER: PASSWORD" in the spaced form. Returns
// nothing if the colon is missing.
std::optional<Credentials> split_credentials(std::string_view rest) {
  const bool is_spaced = rest.starts_with(' ');
  if (is_spaced) rest.remove_prefix(1);
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return {};
  Credentials found{rest.substr(0, colon), rest.substr(colon + 1)};
  if (is_spaced && found.password.starts_with(' ')) found.password.remove_prefix(1);
  return found;
}

// Returns a `Kind` (New, Get or Auth) with valid credentials, or why the line is refused.
template <typename Kind, typename Request>
Request credentials_request(std::string_view rest, bool is_get) {
  const auto account = split_credentials(rest);
  if (!account) return Refused{ErrorCode::kSyntax, is_get};
  if (const auto code = refusal_of(*account)) return Refused{*code, is_get};
  return Kind{*account};
}

// The line never moves in memory while it grows. So whoever overwrites it leaves no other copy of
// the password.
std::string text_line(std::initializer_list<std::string_view> pieces) {
  std::size_t size = 1;
  for (const std::string_view piece : pieces) size += piece.size();
  std::string line;
  line.reserve(size);
  for (const std::string_view piece : pieces) line.append(piece);
  line.append("\n");  // returned by itself it would be a copy
  return line;
}

std::string credentials_line(std::string_view verb, Credentials account) {
  return text_line({verb, account.user, ":", account.password});
}

// Takes the digits in front of the next colon, and the colon. Nothing if it is missing, or if there
// is anything but digits, or no number of this size.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  std::int64_t number = 0;
  const char* const end = rest.data() + rest.size();
  const auto [stop, failure] = std::from_chars(rest.data(), end, number);
  if (failure != std::errc() || stop == end || *stop != ':' || rest.front() == '-') return {};
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()) + 1);
  return number;
}

// "SECONDS:USER:PASSWORD"
AuthRequest open_request(std::string_view rest) {
  const auto seconds = take_number(rest);
  const std::size_t colon = rest.find(':');
  if (!seconds || colon == std::string_view::npos) return Refused{ErrorCode::kSyntax, false};
  const Credentials account{rest.substr(0, colon), rest.substr(colon + 1)};
  if (const auto code = refusal_of(account)) return Refused{*code, false};
  if (*seconds < 1 || *seconds > kMaxTokenSeconds) return Refused{ErrorCode::kInvalid, false};
  return Open{*seconds, account};
}

template <typename Kind>
AuthRequest token_request(std::string_view token) {
  if (token.empty()) return Refused{ErrorCode::kSyntax, false};
  return Kind{token};
}

// Takes "USER:LEN:PASSWORD:"; PASSWORD has LEN bytes, and may have colons, as what follows may.
// Nothing if a part is missing.
std::optional<Credentials> take_sized_credentials(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view user = rest.substr(0, colon);
  rest.remove_prefix(colon + 1);
  const auto length = take_number(rest);
  if (!length || std::cmp_greater_equal(*length, rest.size())) return {};
  const auto password_bytes = static_cast<std::size_t>(*length);
  if (rest[password_bytes] != ':') return {};
  const Credentials account{user, rest.substr(0, password_bytes)};
  rest.remove_prefix(password_bytes + 1);
  return account;
}

// "USER:LEN:OLD:NEW"
AuthRequest password_request(std::string_view rest) {
  const auto account = take_sized_credentials(rest);
  if (!account) return Refused{ErrorCode::kSyntax, false};
  if (refusal_of(*account) || !is_valid_password(rest)) return Refused{ErrorCode::kInvalid, false};
  return NewPassword{*account, rest};
}

AuthRequest wish_request(As who, std::string_view text) {
  const auto wish = parse_wish(text);
  if (const auto* const code = std::get_if<ErrorCode>(&wish)) return Refused{*code, false};
  who.wish = *std::get_if<Wish>(&wish);
  return who;
}

// "TOKEN:WISH"
AuthRequest as_request(std::string_view rest) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0) return Refused{ErrorCode::kSyntax, false};
  return wish_request({rest.substr(0, colon), {}, {}}, rest.substr(colon + 1));
}

// "USER:LEN:PASSWORD:WISH"
AuthRequest by_request(std::string_view rest) {
  const auto account = take_sized_credentials(rest);
  if (!account) return Refused{ErrorCode::kSyntax, false};
  if (refusal_of(*account)) return Refused{ErrorCode::kInvalid, false};
  return wish_request({{}, account, {}}, rest);
}

}  // namespace

ClientRequest parse_client_line(std::string_view line) {
  const bool is_get = line.starts_with("get:");
  if (line.empty() || has_control(line)) return Refused{ErrorCode::kSyntax, is_get};
  if (is_get) return credentials_request<Get, ClientRequest>(line.substr(4), true);
  if (line.starts_with("new:")) {
    auto request = credentials_request<New, ClientRequest>(line.substr(4), false);
    if (auto* const refused = std::get_if<Refused>(&request)) refused->was_new = true;
    return request;
  }
  if (line == "ping") return Ping{};
  return FileName{line};
}

AuthRequest parse_auth_line(std::string_view line) {
  if (line.empty() || has_control(line)) return Refused{ErrorCode::kSyntax, false};
  if (line.starts_with("auth:"))
    return credentials_request<Auth, AuthRequest>(line.substr(5), false);
  if (line.starts_with("new:")) return credentials_request<New, AuthRequest>(line.substr(4), false);
  if (line == "ping") return Ping{};
  if (line.starts_with("token:")) return token_request<Token>(line.substr(6));
  if (line.starts_with("close:")) return token_request<Close>(line.substr(6));
  if (line.starts_with("open:")) return open_request(line.substr(5));
  if (line.starts_with("password:")) return password_request(line.substr(9));
  if (line.starts_with("as:")) return as_request(line.substr(3));
  if (line.starts_with("by:")) return by_request(line.substr(3));
  return Refused{ErrorCode::kSyntax, false};
}

bool is_valid_user(std::string_view user) {
  return !user.empty() && user.size() <= kMaxUserBytes &&
         std::ranges::all_of(user, [](char c) { return is_user_byte(c); });
}

bool is_valid_password(std::string_view password) {
  return !password.empty() && password.size() <= kMaxPasswordBytes && !has_control(password);
}

bool is_token(std::string_view token) {
  const auto is_base64url = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  return token.size() == kTokenBytes && std::all_of(token.begin(), token.end(), is_base64url);
}

std::optional<ErrorCode> refusal_of(Credentials account) {
  if (is_valid_user(account.user) && is_valid_password(account.password)) return {};
  if (has_control(account.user) || has_control(account.password)) return ErrorCode::kSyntax;
  return ErrorCode::kInvalid;
}

bool is_file_name(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

std::string line_of(const Ping&) { return "ping\n"; }
std::string line_of(const New& request) { return credentials_line("new:", request.account); }
std::string line_of(const Get& request) { return credentials_line("get:", request.account); }
std::string line_of(const Auth& request) { return credentials_line("auth:", request.account); }
std::string line_of(const Open& request) {
  return credentials_line("open:" + std::to_string(request.seconds) + ":", request.account);
}
std::string line_of(const Token& request) { return text_line({"token:", request.token}); }
std::string line_of(const Close& request) { return text_line({"close:", request.token}); }
std::string line_of(const NewPassword& request) {
  const auto& [user, old] = request.account;
  return text_line(
      {"password:", user, ":", std::to_string(old.size()), ":", old, ":", request.password});
}
std::string line_of(const As& request) {
  const auto& [token, account, wish] = request;
  if (!account) return text_line({"as:", token, ":", stem_of(wish), wish.operand});
  return text_line({"by:", account->user, ":", std::to_string(account->password.size()), ":",
                    account->password, ":", stem_of(wish), wish.operand});
}
std::string line_of(const FileName& file) { return std::string(file.name) + "\n"; }

}  // namespace wire
