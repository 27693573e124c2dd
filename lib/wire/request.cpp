#include "wire/request.h"

#include <algorithm>

namespace wire {

namespace {

using base::ErrorCode;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool has_control(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), is_control);
}

bool is_user_byte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("._-@+").find(c) != std::string_view::npos;
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
std::string credentials_line(std::string_view verb, Credentials account) {
  std::string line;
  line.reserve(verb.size() + account.user.size() + account.password.size() + 2);
  line.append(verb).append(account.user).append(":").append(account.password).append("\n");
  return line;
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
  return Refused{ErrorCode::kSyntax, false};
}

bool is_valid_user(std::string_view user) {
  return !user.empty() && user.size() <= kMaxUserBytes &&
         std::all_of(user.begin(), user.end(), is_user_byte);
}

bool is_valid_password(std::string_view password) {
  return !password.empty() && password.size() <= kMaxPasswordBytes && !has_control(password);
}

std::optional<ErrorCode> refusal_of(Credentials account) {
  if (has_control(account.user) || has_control(account.password)) return ErrorCode::kSyntax;
  if (!is_valid_user(account.user) || !is_valid_password(account.password))
    return ErrorCode::kInvalid;
  return {};
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
std::string line_of(const FileName& file) { return std::string(file.name) + "\n"; }

}  // namespace wire
