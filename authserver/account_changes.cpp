#include "authserver/account_changes.h"

#include <fmt/core.h>
#include <unistd.h>

#include <iostream>

#include "authserver/account_marks.h"
#include "authserver/administration.h"
#include "authserver/tokens.h"
#include "base/file_io.h"
#include "base/text_lines.h"
#include "serve/shared_memory.h"
#include "wire/request.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

base::Result<std::string> read_password() {
  if (::isatty(STDIN_FILENO) != 0)
    return Error{ErrorCode::kInvalid,
                 "standard input is a terminal, which would show the password; scripts/accounts "
                 "asks for it"};
  std::string password;
  base::read_line(std::cin, password);
  if (password.ends_with('\r')) password.pop_back();
  if (wire::is_valid_password(password)) return password;
  wipe(password);
  return Error{ErrorCode::kInvalid,
               fmt::format("the password on standard input must have 1 to {} bytes and no control "
                           "bytes",
                           wire::kMaxPasswordBytes)};
}

base::Result<std::string> read_record(Scheme scheme) {
  auto password = read_password();
  if (!password) return password.error();
  auto record = make_record(scheme, *password);
  wipe(*password);
  return record;
}

// Says what became of the account, and in which store.
base::Status report(const std::string& user, const base::Status& done, const char* what,
                    const std::string& where) {
  if (!done) return Error{done.error().code, "account " + user + ": " + done.error().context};
  std::cerr << fmt::format("authserver: account {} {} {}\n", user, what, where);
  return base::kDone;
}

}  // namespace

base::Status add_account(AccountStore& store, const std::string& where, const std::string& user,
                         Scheme scheme) {
  auto record = read_record(scheme);
  if (!record) return record.error();
  const auto created = store.create({user, *record});
  wipe(*record);
  return report(user, created, "added to", where);
}

base::Status set_password(AccountStore& store, const std::string& where, const std::string& user,
                          Scheme scheme) {
  auto record = read_record(scheme);
  if (!record) return record.error();
  bool is_disabled = false;
  const auto replaced =
      change_record(store, user, [&](const AccountRecord& before) -> base::Result<std::string> {
        is_disabled = before.marks.is_disabled;
        return text_of(AccountRecord{before.marks, *record});
      });
  wipe(*record);
  if (replaced) clear_tokens_of(store, user, Ended::kAllButApps);
  return report(
      user, replaced,
      is_disabled ? "has the new password, and stays disabled, in" : "has the new password in",
      where);
}

base::Status remove_account(AccountStore& store, const std::string& where,
                            const std::string& user) {
  const auto removed = store.remove(user);
  if (removed) clear_tokens_of(store, user, Ended::kAll);
  return report(user, removed, "removed from", where);
}

base::Status set_disabled(AccountStore& store, const std::string& where, const std::string& user,
                          bool is_disabled) {
  const auto done =
      change_marks(store, user, [&](Marks& marks) { marks.is_disabled = is_disabled; });
  return report(user, done, is_disabled ? "is disabled in" : "is enabled in", where);
}

base::Status set_admin(AccountStore& store, const std::string& where, const std::string& user,
                       bool is_admin) {
  const auto done = change_marks(store, user, [&](Marks& marks) { marks.is_admin = is_admin; });
  return report(user, done, is_admin ? "is an administrator in" : "is no administrator in", where);
}

base::Status print_link(AccountStore& store, const std::string& where, const std::string& user) {
  const serve::Shared<SharedTokenState> tokens;  // what other processes share is in the store
  auto token = invite(store, *tokens, user);
  if (!token) return report(user, token.error(), "", where);
  std::string line = fmt::format("/{}#{}\n", wire::kInvitationPath, *token);
  const bool is_written = base::write_all(STDOUT_FILENO, line);
  const int failure = errno;
  wipe(*token);
  wipe(line);
  if (!is_written) return base::errno_error(ErrorCode::kInternal, "write the link", failure);
  return report(user, base::kDone, "can set a new password once, within three days, in", where);
}

}  // namespace authserver
