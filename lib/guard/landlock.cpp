#include "guard/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace guard::landlock {

namespace {

// A kernel that knows fewer members accepts the others as long as they are 0.
struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

struct PortAttributes {
  std::uint64_t allowed_access;
  std::uint64_t port;
};

constexpr int kPortRule = 2;

constexpr Rights kFirstVersion = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

}  // namespace

Handled all_of(int version) {
  Handled all{.files = kFirstVersion};
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 4) all.tcp = kBindTcp | kConnectTcp;
  if (version >= 5) all.files |= kIoctlDevice;
  if (version >= 6) all.scopes = kAbstractSockets | kSignals;
  return all;
}

int version() {
  return static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

net::Fd make_ruleset(const Handled& handled) {
  const RulesetAttributes attributes{handled.files, handled.tcp, handled.scopes};
  return net::Fd(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
}

bool allow_beneath(const net::Fd& ruleset, int path_fd, Rights rights) {
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = path_fd};
  return ::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

bool allow_port(const net::Fd& ruleset, std::uint16_t port, Rights rights) {
  const PortAttributes rule{rights, port};
  return ::syscall(SYS_landlock_add_rule, ruleset.get(), kPortRule, &rule, 0) == 0;
}

bool enforce(const net::Fd& ruleset) {
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

}  // namespace guard::landlock
