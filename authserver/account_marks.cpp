#include "authserver/account_marks.h"

#include <algorithm>

#include "authserver/passwords/scheme.h"

namespace authserver {

namespace {

constexpr std::string_view kMarksBegin = "$is$";
constexpr std::string_view kAppsKey = "apps=";

bool take_word(std::string_view& marks, std::string_view word) {
  const std::string_view first = marks.substr(0, marks.find(','));
  if (first != word) return false;
  marks.remove_prefix(std::min(first.size() + 1, marks.size()));
  return true;
}

}  // namespace

AccountRecord parse_account_record(std::string_view record) {
  const AccountRecord without_marks{{}, record};
  if (!record.starts_with(kMarksBegin)) return without_marks;
  const std::string_view rest = record.substr(kMarksBegin.size());
  const std::size_t end = rest.find('$');
  if (end == std::string_view::npos || end == 0) return without_marks;
  std::string_view words = rest.substr(0, end);
  Marks marks;
  marks.is_disabled = take_word(words, "disabled");
  marks.is_admin = take_word(words, "admin");
  if (words.starts_with(kAppsKey)) {
    marks.apps_key = words.substr(kAppsKey.size());
    words = {};
  }
  if (!words.empty()) return without_marks;
  return {marks, rest.substr(end + 1)};
}

std::string text_of(const AccountRecord& record) {
  std::string words;
  if (record.marks.is_disabled) words += ",disabled";
  if (record.marks.is_admin) words += ",admin";
  if (!record.marks.apps_key.empty())
    words.append(",").append(kAppsKey).append(record.marks.apps_key);
  std::string text;
  text.reserve(kMarksBegin.size() + words.size() + record.password.size() + 1);
  if (!words.empty()) text.append(kMarksBegin).append(words, 1).append("$");
  return text.append(record.password);
}

base::Status change_record(AccountStore& store, std::string_view user,
                           const ChangeOfRecord& change) {
  constexpr int kTries = 50;  // a user who changes his password all the time stops nobody
  for (int tries = 0; tries < kTries; ++tries) {
    auto before = store.find_record(user);
    if (!before) return before.error();
    auto after = change(parse_account_record(*before));
    const base::Status written =
        after ? store.replace_if({user, *after}, *before) : base::Status(after.error());
    wipe(*before);
    if (after) wipe(*after);
    if (!after || written || written.error().code != base::ErrorCode::kNotFound) return written;
  }
  return base::Error{base::ErrorCode::kUnavailable, "others go on changing the account"};
}

base::Status change_marks(AccountStore& store, std::string_view user,
                          const std::function<void(Marks& marks)>& change) {
  return change_record(store, user, [&](const AccountRecord& record) -> base::Result<std::string> {
    AccountRecord changed = record;
    change(changed.marks);
    return text_of(changed);
  });
}

}  // namespace authserver
