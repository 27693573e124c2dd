// A library that plays an attacker who has taken over a server. It is loaded with LD_PRELOAD, waits
// for the first accepted connection, and then tries what an attacker would try, in the thread or
// process that serves it. It writes one line for each attempt to standard error:
//
//     hijacked read-/etc/passwd=yes
//
// The attempts come in the variable HIJACK, separated by blanks.
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

bool close_if_open(int fd) { return fd >= 0 && ::close(fd) == 0; }

bool executes() {
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  char* const no_environment[] = {nullptr};
  pid_t child = -1;
  if (::posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, no_environment) != 0)
    return false;
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

bool with_address(const std::string& port, bool is_bind) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port.c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const target = reinterpret_cast<const sockaddr*>(&address);
  const int done =
      is_bind ? ::bind(fd, target, sizeof address) : ::connect(fd, target, sizeof address);
  return close_if_open(fd) && done == 0;
}

bool attempt(const std::string& what, const std::string& on) {
  if (what == "read") return close_if_open(::open(on.c_str(), O_RDONLY | O_CLOEXEC));
  if (what == "write")
    return close_if_open(::open(on.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (what == "connect") return with_address(on, false);
  if (what == "bind") return with_address(on, true);
  if (what == "execute") return executes();
  if (what == "root") return ::setuid(0) == 0;
  return false;
}

void try_all() {
  const char* const attempts = std::getenv("HIJACK");
  std::istringstream all(attempts == nullptr ? "" : attempts);
  std::string lines;
  for (std::string one; all >> one;) {
    const std::size_t dash = one.find('-');
    const std::string on = dash == std::string::npos ? "" : one.substr(dash + 1);
    lines += "hijacked " + one + (attempt(one.substr(0, dash), on) ? "=yes\n" : "=no\n");
  }
  lines += "hijacked all=tried\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, lines.data(), lines.size());
}

}  // namespace

extern "C" int accept4(int listener, sockaddr* address, socklen_t* size, int flags) {
  using Accept = int (*)(int, sockaddr*, socklen_t*, int);
  static const auto real = reinterpret_cast<Accept>(::dlsym(RTLD_NEXT, "accept4"));
  static std::atomic<bool> is_done = false;
  const int fd = real(listener, address, size, flags);
  if (fd >= 0 && !is_done.exchange(true)) try_all();
  return fd;
}
