// Accounts as lines of comma-separated values (RFC 4180): user,record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "authserver/stores/account_store.h"

namespace authserver {

// The line of one account, with its LF. Every field is quoted, because a record may hold any byte
// except control bytes.
std::string csv_line(const Account& account);

// As Account, but it owns its texts.
struct CsvAccount {
  std::string user;
  std::string record;
};

// Reads a line, given without its LF; a CR at its end is ignored. Fields may be quoted or not.
// Nothing if the line has not exactly two fields, if the user name is not valid, or if the record
// is empty, longer than any store takes, or more expensive than ours (is_affordable()).
std::optional<CsvAccount> parse_csv_line(std::string_view line);

}  // namespace authserver
