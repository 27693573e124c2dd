// Who asks the authserver for something about accounts, by a request.
#pragma once

#include <string.h>

#include <optional>
#include <string>
#include <string_view>

#include "fileserver/http/exchange.h"
#include "fileserver/parts.h"
#include "wire/request.h"

namespace fileserver {

// Keeps the credentials of a request while its body is read, which overwrites its head. They are
// overwritten at the end.
class Asker {
 public:
  // Requires: the credentials of the request are good.
  explicit Asker(const http::RequestHead& head) {
    const RequestCredentials credentials(head);
    const auto& account = credentials.account();
    if (account) user_ = account->user;
    secret_ = account ? account->password : credentials.token();
  }
  ~Asker() { ::explicit_bzero(secret_.data(), secret_.size()); }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  // The content of the answer.
  base::Result<std::string> ask(Parts& parts, const wire::Wish& wish) const {
    if (user_.empty()) return parts.auth.ask(wire::As{secret_, {}, wish});
    return parts.auth.ask(wire::As{{}, wire::Credentials{user_, secret_}, wish});
  }

 private:
  std::string user_;  // empty: the secret is a token
  std::string secret_;
};

// Answers for a wish of a person that failed. Who is denied has good credentials, which are those
// of a program.
inline void refuse_program(Exchange& exchange, const base::Error& error) {
  if (error.code == base::ErrorCode::kDenied) return exchange.answer(403);
  exchange.answer(error);
}

// Takes the word in front of the next blank, or all that is left. Answers to wishes are made of
// words and lines.
inline std::string_view take_piece(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view piece = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return piece;
}

// Who asks, as `who` tells it: "amy admin session".
struct Person {
  std::string_view user;
  bool is_admin;
  std::string_view by;  // password, session or app
};
inline Person parse_person(std::string_view told) {
  const std::string_view user = take_piece(told, ' ');
  const bool is_admin = take_piece(told, ' ') == "admin";
  return {user, is_admin, told};
}

}  // namespace fileserver
