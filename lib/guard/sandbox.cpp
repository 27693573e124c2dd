#include "guard/sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "guard/landlock.h"
#include "net/address.h"

namespace guard {

namespace {

using base::ErrorCode;
using landlock::Rights;

constexpr Rights kReading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr Rights kWriting = kReading | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | landlock::kTruncate;
constexpr Rights kEditing =
    kWriting | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | landlock::kRefer;

// What the C library reads to look up a name. The folders of libraries are among them, because the
// ways to look names up are libraries. The two in /run are where resolv.conf is often a link to.
constexpr const char* kNameLookUp[] = {"/etc/resolv.conf",
                                       "/etc/hosts",
                                       "/etc/nsswitch.conf",
                                       "/etc/host.conf",
                                       "/etc/gai.conf",
                                       "/etc/services",
                                       "/etc/ld.so.cache",
                                       "/run/systemd/resolve",
                                       "/run/NetworkManager",
                                       "/run/resolvconf",
                                       "/usr/lib",
                                       "/lib",
                                       "/lib64"};
constexpr std::uint16_t kNameServerPort = 53;

base::Error failed(const char* what) {
  return base::errno_error(ErrorCode::kUnavailable, what, errno);
}

// Rights that the kernel does not know, or that a file cannot have, are left out: they would make
// the rule invalid.
bool allow_path(const net::Fd& ruleset, const std::string& path, Rights rights) {
  const net::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.is_open()) return true;
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return false;
  if (!S_ISDIR(status.st_mode)) rights &= landlock::kFileRights;
  return landlock::allow_beneath(ruleset, fd.get(), rights);
}

bool allow_all(const net::Fd& ruleset, const Allowed& allowed, const landlock::Handled& handled) {
  for (const std::string& path : allowed.readable) {
    if (!allow_path(ruleset, path, kReading & handled.files)) return false;
  }
  for (const std::string& path : allowed.writable) {
    if (!allow_path(ruleset, path, kWriting & handled.files)) return false;
  }
  for (const std::string& path : allowed.editable) {
    if (!allow_path(ruleset, path, kEditing & handled.files)) return false;
  }
  for (const std::string& path : allowed.clearable) {
    if (!allow_path(ruleset, path, LANDLOCK_ACCESS_FS_REMOVE_FILE & handled.files)) return false;
  }
  if (handled.tcp == 0) return true;
  for (const std::uint16_t port : allowed.ports) {
    if (!landlock::allow_port(ruleset, port, landlock::kConnectTcp)) return false;
  }
  return true;
}

// Returns what is restricted: "files" or "files, TCP".
base::Result<std::string_view> restrict_files(const Allowed& allowed) {
  const int version = landlock::version();
  if (version < 0) return failed("Landlock");
  const landlock::Handled handled = landlock::all_of(version);
  const net::Fd ruleset = landlock::make_ruleset(handled);
  if (!ruleset.is_open()) return failed("make a Landlock ruleset");
  if (!allow_all(ruleset, allowed, handled)) return failed("add a Landlock rule");
  if (!landlock::enforce(ruleset)) return failed("enforce the Landlock ruleset");
  return std::string_view(handled.tcp == 0 ? "files" : "files, TCP");
}

}  // namespace

void Allowed::listen_on(const net::HostPort& address) {
  if (address.is_unix())
    clearable.push_back(std::filesystem::path(address.unix_path()).parent_path().string());
}

void Allowed::connect_to(const std::string& host, std::uint16_t port) {
  if (net::HostPort{host, port}.is_unix()) return;
  ports.push_back(port);
  if (net::is_numeric(host)) return;
  calls.look_up_names = true;
  readable.insert(readable.end(), std::begin(kNameLookUp), std::end(kNameLookUp));
  ports.push_back(kNameServerPort);
}

base::Result<Restricted> restrict_to(const Allowed& allowed) {
  const auto files = restrict_files(allowed);
  const auto calls = refuse_calls(allowed.calls);
  if (files && calls) return Restricted{std::string(*files) + " and system calls", ""};
  if (files) return Restricted{std::string(*files), calls.error().context};
  if (calls) return Restricted{"system calls", files.error().context};
  return base::Error{ErrorCode::kUnavailable, files.error().context + "; " + calls.error().context};
}

}  // namespace guard
