// Where accounts are stored. Each kind of store implements this interface.
//
// Threads: a store belongs to one thread or process. Each opens its own.
// Errors: kUnavailable means that the store does not answer now, and that asking again may help.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace authserver {

// Borrowed: the texts must outlive it.
struct Account {
  std::string_view user;
  std::string_view record;  // the stored form of the password (passwords/scheme.h)
};

class AccountStore {
 public:
  virtual ~AccountStore() = default;

  // Returns once the account is durable; kExists if the name is taken. A store never repeats the
  // request on its own. If the connection breaks before the answer, the error is kUnavailable, and
  // the account may exist or not. Requires: wire::is_valid_user(account.user).
  virtual base::Status create(const Account& account) = 0;

  // Replaces the record of an account, or removes an account. Each returns once that is durable.
  // Every look-up that begins afterwards sees it, in any process. kNotFound if there is no such
  // user. If the connection breaks before the answer, it may have been done or not, as in create().
  virtual base::Status replace(const Account& account) = 0;
  virtual base::Status remove(std::string_view user) = 0;

  // The same as replace(), provided that the record still is `before`: of two who change what they
  // have read, the second one is told so. kNotFound too if it is another one.
  virtual base::Status replace_if(const Account& account, std::string_view before) = 0;

  // The user's record; kNotFound if there is no such user.
  virtual base::Result<std::string> find_record(std::string_view user) = 0;

  // The same for each of several users, in their order. Asks the store once, if it can be asked for
  // several users at once.
  virtual std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) {
    std::vector<base::Result<std::string>> records;
    records.reserve(users.size());
    for (const std::string_view user : users) records.push_back(find_record(user));
    return records;
  }

  // Succeeds if the store answers.
  virtual base::Status ping() = 0;

  // Calls `visit` for every account, in no particular order. Accounts that are created or removed
  // meanwhile may be missed, and an account may then be visited twice. `visit` must not use the
  // store.
  virtual base::Status for_each(const std::function<void(const Account&)>& visit) = 0;

  // After a change that failed: whether the store itself refused it, so that it can still be read.
  virtual bool is_connected() const { return false; }

  // Closes the connection to the store; the next request makes a new one. What was learnt stays: a
  // store that failed lately is not tried again too soon (Backoff).
  virtual void disconnect() = 0;
};

}  // namespace authserver
