// Where accounts live. One implementation for each backend: sqlite, mysql, redis.
//
// Threads: a store belongs to one thread or process; every one opens its own.
// Errors: kUnavailable means that nothing is known to have changed; the caller may ask again.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace authserver {

struct Account {
  std::string_view user;
  std::string_view record;  // the password as it is kept; names its own scheme
};

class AccountStore {
 public:
  virtual ~AccountStore() = default;

  // Returns once the account is durable; kExists if the name is taken. Never done twice by itself:
  // when the connection to the store breaks before the answer, its fate is unknown, and the error
  // is kUnavailable. Requires: wire::is_valid_user(account.user).
  virtual base::Status create(const Account& account) = 0;

  // The record; kNotFound when there is no such user.
  virtual base::Result<std::string> find_record(std::string_view user) = 0;

  // Done when the store answers.
  virtual base::Status ping() = 0;

  // Calls `visit` for every account, in no order, each once if nobody makes accounts meanwhile.
  virtual base::Status for_each(const std::function<void(const Account&)>& visit) = 0;
};

}  // namespace authserver
