#include "authserver/csv.h"

#include <algorithm>

#include "authserver/account_marks.h"
#include "authserver/passwords/scheme.h"
#include "wire/request.h"

namespace authserver {

namespace {

void append_field(std::string& line, std::string_view value) {
  line += '"';
  for (const char c : value) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

// Removes the first field from `rest` and returns it without its quotes. Nothing if a quote does
// not end.
std::optional<std::string> take_field(std::string_view& rest) {
  if (!rest.starts_with('"')) {
    const std::size_t size = std::min(rest.find(','), rest.size());
    std::string field(rest.substr(0, size));
    rest.remove_prefix(size);
    return field;
  }
  std::string field;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] != '"') {
      field += rest[i];
    } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
      field += rest[i++];
    } else {
      rest.remove_prefix(i + 1);
      return field;
    }
  }
  return {};
}

}  // namespace

std::string csv_line(const Account& account) {
  std::string line;
  append_field(line, account.user);
  line += ',';
  append_field(line, account.record);
  line += '\n';
  return line;
}

std::optional<CsvAccount> parse_csv_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  auto user = take_field(line);
  if (!user || !line.starts_with(',')) return {};
  line.remove_prefix(1);
  auto record = take_field(line);
  if (!record || !line.empty()) return {};
  constexpr std::size_t kLongestRecord = 255;
  if (!wire::is_valid_user(*user) || record->empty() || record->size() > kLongestRecord) return {};
  if (!is_affordable(parse_account_record(*record).password)) return {};
  return CsvAccount{std::move(*user), std::move(*record)};
}

}  // namespace authserver
