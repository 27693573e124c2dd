// A library that plays an attacker who has taken over a server. It is loaded with LD_PRELOAD, waits
// for the first accepted connection, and then tries what an attacker would try, in the thread or
// process that serves it. It writes one line for each attempt to standard error:
//
//     hijacked read-/etc/passwd=yes
//
// The attempts come in the variable HIJACK, separated by blanks. The variable HIJACK_PROGRAM names
// a static program, for what needs no file to be executed.
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
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

// The program as an attacker would bring it along. It is read before the sandbox begins.
int program_in_memory() {
  const char* const path = std::getenv("HIJACK_PROGRAM");
  const int file = ::open(path == nullptr ? "" : path, O_RDONLY | O_CLOEXEC);
  const int program = ::memfd_create("program", MFD_CLOEXEC);
  while (file >= 0 && ::sendfile(program, file, nullptr, 1 << 20) > 0) continue;
  close_if_open(file);
  return program;
}

const int program = program_in_memory();

// The file system is not asked.
bool executes_from_memory() {
  const pid_t child = ::fork();
  if (child == 0) {
    char name[] = "program";
    char* const arguments[] = {name, nullptr};
    char* const no_environment[] = {nullptr};
    ::syscall(SYS_execveat, program, "", arguments, no_environment, AT_EMPTY_PATH);
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

// The ways to a TCP port.
enum class Way { kConnect, kBind, kFastOpen, kMultipath };

bool with_address(const std::string& port, Way way) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port.c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr int kMultipathTcp = 262;
  const int fd =
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, way == Way::kMultipath ? kMultipathTcp : 0);
  const auto* const target = reinterpret_cast<const sockaddr*>(&address);
  bool is_done = false;
  if (way == Way::kBind) {
    is_done = ::bind(fd, target, sizeof address) == 0;
  } else if (way == Way::kFastOpen) {
    is_done = ::sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, target, sizeof address) == 1;
  } else {
    is_done = ::connect(fd, target, sizeof address) == 0;
  }
  return close_if_open(fd) && is_done;
}

// Without bind() the kernel takes a port of every address.
bool listens() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_done = ::listen(fd, 1) == 0;
  return close_if_open(fd) && is_done;
}

bool changes_mode_of_open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_done = ::fchmod(fd, 0666) == 0;
  return close_if_open(fd) && is_done;
}

// A queue of calls that the kernel makes for the program. No filter sees them.
bool makes_ring() {
  std::array<char, 120> parameters{};
  return close_if_open(static_cast<int>(::syscall(SYS_io_uring_setup, 1, parameters.data())));
}

bool makes_socket(const std::string& family) {
  return close_if_open(::socket(std::atoi(family.c_str()), SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

bool attempt(const std::string& what, const std::string& on) {
  if (what == "read") return close_if_open(::open(on.c_str(), O_RDONLY | O_CLOEXEC));
  if (what == "write")
    return close_if_open(::open(on.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (what == "connect") return with_address(on, Way::kConnect);
  if (what == "bind") return with_address(on, Way::kBind);
  if (what == "fast_open") return with_address(on, Way::kFastOpen);
  if (what == "multipath") return with_address(on, Way::kMultipath);
  if (what == "listen") return listens();
  if (what == "socket") return makes_socket(on);
  if (what == "execute") return executes();
  if (what == "execute_memory") return executes_from_memory();
  if (what == "mode") return ::chmod(on.c_str(), 0666) == 0;
  if (what == "mode_of_open") return changes_mode_of_open(on);
  if (what == "attribute") return ::setxattr(on.c_str(), "user.x", "x", 1, 0) == 0;
  if (what == "ring") return makes_ring();
  if (what == "owner") return ::chown(on.c_str(), ::geteuid(), ::getegid()) == 0;
  if (what == "times") return ::utimensat(AT_FDCWD, on.c_str(), nullptr, 0) == 0;
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
