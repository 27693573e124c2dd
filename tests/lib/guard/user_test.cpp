#include "guard/user.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/catch.h"

namespace {

// Whether the check holds in a child process, which may change its user.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool has_only_group(gid_t group) {
  gid_t groups[2] = {};
  return ::getgroups(2, groups) == 1 && groups[0] == group && ::getgid() == group;
}

}  // namespace

TEST_CASE("the user of the process is a user that it can become", "[guard]") {
  CHECK(guard::become_user(std::to_string(::geteuid())).ok());
}

TEST_CASE("a user that does not exist is an error", "[guard]") {
  for (const char* const user : {"no-such-user", "4294967295", "-1", "1x", ""}) {
    CAPTURE(user);
    const auto done = guard::become_user(user);
    REQUIRE_FALSE(done);
    CHECK(done.error().context.find("there is no such user") != std::string::npos);
  }
}

TEST_CASE("only root can become another user", "[guard]") {
  if (guard::is_root()) {
    CHECK(holds_in_child(
        [] { return guard::become_user("12345").ok() && !guard::become_user("12346").ok(); }));
  } else {
    CHECK_FALSE(guard::become_user("0").ok());
  }
}

TEST_CASE("root that has become another user cannot go back", "[guard]") {
  if (!guard::is_root()) return;  // only root can try
  CHECK(holds_in_child([] {
    const gid_t before[] = {0, 4};
    return ::setgroups(2, before) == 0 && guard::become_user("12345").ok() && ::getuid() == 12345 &&
           ::geteuid() == 12345 && has_only_group(12345) && ::setuid(0) != 0 && ::seteuid(0) != 0 &&
           ::setgid(0) != 0 && ::setgroups(0, nullptr) != 0;
  }));
  CHECK(holds_in_child([] { return guard::become_user("nobody").ok() && ::geteuid() != 0; }));
}

// ThreadSanitizer adds a thread, which keeps its rights. The C library aborts if one thread may
// take other groups and another one may not.
#ifndef TURNSTILE_SANITIZE_THREAD

namespace {

// The process may not choose its groups any more. It keeps those that it has.
bool give_up_groups() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct rights[2] = {};
  if (::syscall(SYS_capget, &header, rights) != 0) return false;
  rights[0].effective &= ~(1U << CAP_SETGID);
  return ::syscall(SYS_capset, &header, rights) == 0;
}

}  // namespace

TEST_CASE("root that keeps its groups does not run as another user", "[guard]") {
  if (!guard::is_root()) return;  // others have no groups to give up
  CHECK(holds_in_child([] {
    const gid_t before[] = {0, 4};
    return ::setgroups(2, before) == 0 && ::setresgid(12345, 12345, 12345) == 0 &&
           give_up_groups() && !guard::become_user("12345").ok();
  }));
}

#endif

TEST_CASE("rights that are forbidden stay forbidden", "[guard]") {
  CHECK(holds_in_child([] {
    guard::forbid_more_rights();
    return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
  }));
}
