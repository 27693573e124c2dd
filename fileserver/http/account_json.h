// Reads objects such as {"user": ..., "password": ...}. No allocation, so that whoever overwrites
// the bytes leaves no other copy of the password.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "wire/request.h"

namespace fileserver {

// An object with exactly these two members, once each, in any order, whose values are strings.
// Nothing for any other JSON, and for what is no JSON. The strings are decoded in place, and point
// into `json`. Whether they are acceptable as user and password is not looked at.
std::optional<wire::Credentials> parse_account(std::span<char> json);

// {"user": ..., "password": ...}, and maybe "stay": true or false.
struct SessionWish {
  wire::Credentials account;
  bool stays = false;
};
std::optional<SessionWish> parse_session(std::span<char> json);

// {"old": ..., "new": ...}
struct PasswordChange {
  std::string_view old_password;
  std::string_view new_password;
};
std::optional<PasswordChange> parse_password_change(std::span<char> json);

// {"path": ..., "may": ...}, and maybe "end" and "uses", which are numbers from 0 on, and
// "password". These three may also be null, which is as if they were not there.
struct LinkRequest {
  std::string_view path;
  std::string_view may;
  std::optional<std::int64_t> end;
  std::optional<std::int64_t> uses;
  std::optional<std::string_view> password;
};
std::optional<LinkRequest> parse_link(std::span<char> json);

// An object with the members of these names, whose values are strings.
std::optional<std::string_view> parse_text(std::span<char> json, std::string_view name);
std::optional<std::pair<std::string_view, std::string_view>> parse_two_texts(
    std::span<char> json, std::string_view first, std::string_view second);

}  // namespace fileserver
