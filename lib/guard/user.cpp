#include "guard/user.h"

#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

namespace guard {

namespace {

using base::ErrorCode;

struct Account {
  std::string name;  // empty if the user has only a number
  uid_t uid;
  gid_t gid;
};

base::Error failure_of(const std::string& user, int errno_value) {
  return base::errno_error(ErrorCode::kInternal, "run as user " + user, errno_value);
}

std::optional<Account> known(const passwd* entry) {
  if (entry == nullptr) return {};
  return Account{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

// A number without an entry in the list of users is also the number of its group.
std::optional<Account> account_of(const std::string& user) {
  if (auto account = known(::getpwnam(user.c_str()))) return account;
  uid_t uid = 0;
  const char* const end = user.data() + user.size();
  const auto [stopped, failure] = std::from_chars(user.data(), end, uid);
  // The largest number stands for "no change" in the calls below.
  if (failure != std::errc() || stopped != end || uid == static_cast<uid_t>(-1)) return {};
  if (auto account = known(::getpwuid(uid))) return account;
  return Account{"", uid, uid};
}

bool take_groups(const Account& account) {
  const int done = account.name.empty() ? ::setgroups(1, &account.gid)
                                        : ::initgroups(account.name.c_str(), account.gid);
  return done == 0 && ::setresgid(account.gid, account.gid, account.gid) == 0;
}

bool runs_as(const Account& account) {
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
  if (::getresuid(&real, &effective, &saved) != 0) return false;
  return real == account.uid && effective == account.uid && saved == account.uid;
}

// Whether rights of root are within reach. They may have been taken then, so the caller must end.
bool can_take_back(const Account& account) {
  return ::setuid(0) == 0 || ::seteuid(0) == 0 || (account.gid != 0 && ::setegid(0) == 0);
}

}  // namespace

void forbid_more_rights() { ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

bool is_root() { return ::geteuid() == 0; }

std::string user_name() {
  const uid_t uid = ::geteuid();
  const auto account = known(::getpwuid(uid));
  return account ? account->name : std::to_string(uid);
}

base::Status become_user(const std::string& user) {
  const auto account = account_of(user);
  if (!account)
    return base::Error{ErrorCode::kInternal, "run as user " + user + ": there is no such user"};
  if (runs_as(*account)) return base::kDone;
  if (!take_groups(*account) || ::setresuid(account->uid, account->uid, account->uid) != 0)
    return failure_of(user, errno);
  if (!runs_as(*account) || can_take_back(*account))
    return base::Error{ErrorCode::kInternal,
                       "run as user " + user + ": the rights of root could be taken back"};
  return base::kDone;
}

}  // namespace guard
