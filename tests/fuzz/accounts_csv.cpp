// Random lines of an import. What is read from a line must be valid, and must be read again from
// the line that an export would print. So must every account that is valid.
#include "authserver/account_marks.h"
#include "authserver/csv.h"
#include "authserver/passwords/scheme.h"
#include "tests/fuzz/require.h"
#include "wire/request.h"

namespace {

using fuzz::require;

bool is_valid(std::string_view user, std::string_view record) {
  return wire::is_valid_user(user) && !record.empty() && record.size() <= 255 &&
         authserver::is_affordable(authserver::parse_account_record(record).password);
}

void check_round_trip(std::string_view user, std::string_view record) {
  std::string line = authserver::csv_line({user, record});
  require(line.ends_with('\n'));
  line.pop_back();
  const auto again = authserver::parse_csv_line(line);
  require(again && again->user == user && again->record == record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto account = authserver::parse_csv_line(text)) {
    require(is_valid(account->user, account->record));
    check_round_trip(account->user, account->record);
  }
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos && is_valid(text.substr(0, comma), text.substr(comma + 1)))
    check_round_trip(text.substr(0, comma), text.substr(comma + 1));
  return 0;
}
