// Accounts as lines of comma-separated values (RFC 4180): user,record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "authserver/stores/account_store.h"

namespace authserver {

// With its LF. Every field is quoted, as a record may hold anything but control bytes.
std::string csv_line(const Account& account);

struct CsvAccount {
  std::string user;
  std::string record;
};

// The line without its LF. Nothing when it is not two fields, or the user name is not acceptable,
// or there is no record.
std::optional<CsvAccount> parse_csv_line(std::string_view line);

}  // namespace authserver
