// What a record says of its account in front of the password.
//
// An account without marks has the record of its password (passwords/scheme.h) and nothing else.
// Marks stand in front of it, in this order, with commas between them:
//
//   $is$disabled,admin,apps=KEY$RECORD
//
// So every store keeps them without a change of its schema, and they go with the account when it is
// removed or exported. To an authserver of an earlier version no password matches such a record.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "authserver/stores/account_store.h"
#include "base/result.h"

namespace authserver {

struct Marks {
  bool operator==(const Marks&) const = default;

  bool is_disabled = false;  // every password and token of it is denied
  bool is_admin = false;
  std::string_view apps_key = {};  // what application passwords are tied to (tokens.h); empty: none
};

// A record taken apart. Points into it. One with marks that are not understood counts as a whole as
// that of a password, which none matches.
struct AccountRecord {
  Marks marks;
  std::string_view password;
};
AccountRecord parse_account_record(std::string_view record);

std::string text_of(const AccountRecord& record);

// Writes what `change` makes of the record of an account. Returns once that is durable. If somebody
// else changes the record at the same time, `change` is called again with theirs. kNotFound if
// there is no such user; what `change` returns if it fails; kUnavailable if others go on changing
// it.
using ChangeOfRecord = std::function<base::Result<std::string>(const AccountRecord& record)>;
base::Status change_record(AccountStore& store, std::string_view user,
                           const ChangeOfRecord& change);

// The same for the marks alone.
base::Status change_marks(AccountStore& store, std::string_view user,
                          const std::function<void(Marks& marks)>& change);

}  // namespace authserver
