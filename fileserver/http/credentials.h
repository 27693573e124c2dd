// The user and the password of a request of HTTP.
#pragma once

#include <array>
#include <optional>

#include "http/basic.h"
#include "http/request_head.h"
#include "wire/request.h"

namespace fileserver {

// Decoded from Authorization, and overwritten at the end.
class RequestCredentials {
 public:
  explicit RequestCredentials(const http::RequestHead& head);
  ~RequestCredentials();
  RequestCredentials(const RequestCredentials&) = delete;
  RequestCredentials& operator=(const RequestCredentials&) = delete;

  // Nothing if there are none, or if they are malformed or of no possible account. Points into
  // this.
  const std::optional<wire::Credentials>& account() const { return account_; }

 private:
  std::array<char, http::kMaxBasicBytes> bytes_;
  std::optional<wire::Credentials> account_;
};

}  // namespace fileserver
