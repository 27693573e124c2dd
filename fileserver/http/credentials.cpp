#include "fileserver/http/credentials.h"

#include <string.h>

namespace fileserver {

RequestCredentials::RequestCredentials(const http::RequestHead& head) {
  const auto basic = http::parse_basic(head.value(http::Field::kAuthorization), bytes_);
  if (!basic) return;
  const wire::Credentials account{basic->user, basic->password};
  if (!wire::refusal_of(account)) account_ = account;
}

RequestCredentials::~RequestCredentials() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

}  // namespace fileserver
