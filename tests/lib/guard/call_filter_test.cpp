#include "guard/call_filter.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "guard/user.h"
#include "net/fd.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

using Call = std::function<long()>;

constexpr int kNoFilter = 255;

// The errno of the call in a child process that has the filter; 0 if it succeeds.
int errno_of(const Call& call, const std::function<base::Status()>& filter) {
  const pid_t child = ::fork();
  if (child == 0) {
    guard::forbid_more_rights();
    if (!filter()) ::_exit(kNoFilter);
    ::_exit(call() >= 0 ? 0 : errno);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != kNoFilter);
  return WEXITSTATUS(status);
}

int without(const Call& call) {
  return errno_of(call, [] { return base::Status(base::kDone); });
}

int with(const Call& call, const guard::Calls& still_made = {}) {
  return errno_of(call, [&] { return guard::refuse_calls(still_made); });
}

// The arguments are such that the kernel refuses them too, but not with EACCES.
Call raw(long number, long first = -1, long second = 0, long third = 0, long fourth = 0) {
  return [=] { return ::syscall(number, first, second, third, fourth, 0, 0); };
}

Call making_socket(int family, int type, int protocol) {
  return [=] { return net::Fd(::socket(family, type | SOCK_CLOEXEC, protocol)).get(); };
}

void check_refused(const std::string& name, const Call& call) {
  INFO(name);
  CHECK(without(call) != EACCES);
  CHECK(with(call) == EACCES);
  CHECK(with(call, {.set_modes = true, .look_up_names = true}) == EACCES);
}

}  // namespace

TEST_CASE("calls that no server makes are refused", "[guard][no-threads]") {
  check_refused("execve", raw(SYS_execve, 0));
  check_refused("execveat", raw(SYS_execveat));
  check_refused("process_vm_readv", raw(SYS_process_vm_readv));
  check_refused("io_uring_setup", raw(SYS_io_uring_setup));
  check_refused("bind", raw(SYS_bind));
  check_refused("fchmodat", raw(SYS_fchmodat, -1, 0));
  check_refused("fchownat", raw(SYS_fchownat, -1, 0));
  check_refused("setxattr", raw(SYS_setxattr, 0));
  check_refused("unshare", raw(SYS_unshare));
  check_refused("setns", raw(SYS_setns));
  check_refused("mount", raw(SYS_mount, 0));
  check_refused("bpf", raw(SYS_bpf));
  check_refused("userfaultfd", raw(SYS_userfaultfd));
  check_refused("perf_event_open", raw(SYS_perf_event_open, 0));
  check_refused("keyctl", raw(SYS_keyctl));
  check_refused("init_module", raw(SYS_init_module, 0));
  check_refused("sethostname", raw(SYS_sethostname, 0, -1));
#if !defined(TURNSTILE_SANITIZE_ADDRESS)
  check_refused("ptrace", raw(SYS_ptrace, PTRACE_PEEKDATA, ::getppid()));
#endif
  check_refused("clone", raw(SYS_clone, CLONE_NEWUSER | CLONE_FS));
  check_refused("typing", raw(SYS_ioctl, -1, TIOCSTI));
  check_refused("typing", raw(SYS_ioctl, -1, static_cast<long>(TIOCSTI | (1UL << 32))));
}

TEST_CASE("a call that the library does not know, and clone3, are not there", "[guard]") {
  CHECK(with(raw(511)) == ENOSYS);
  const Call setxattrat = raw(463, -1, 0, 0, 0);  // Linux 6.13
  CHECK((with(setxattrat) == ENOSYS || with(setxattrat) == EACCES));
  CHECK(with(raw(435)) == ENOSYS);
}

#if defined(__x86_64__)
TEST_CASE("calls of another architecture are refused", "[guard]") {
  constexpr long kX32 = 0x40000000;
  CHECK(without(raw(kX32 | SYS_getpid)) != EACCES);
  CHECK(with(raw(kX32 | SYS_getpid)) == EACCES);
}
#endif

TEST_CASE("there are sockets of TCP and Unix, and of UDP for looking up names", "[guard]") {
  const Call udp = making_socket(AF_INET, SOCK_DGRAM, 0);
  for (const Call& call :
       {making_socket(AF_INET, SOCK_STREAM, 0), making_socket(AF_INET, SOCK_STREAM, IPPROTO_TCP),
        making_socket(AF_UNIX, SOCK_STREAM, 0), making_socket(AF_UNIX, SOCK_DGRAM, 0)})
    CHECK(with(call) == 0);
  CHECK(with(udp) == EACCES);
  CHECK(with(udp, {.look_up_names = true}) == 0);
  CHECK(with(making_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP), {.look_up_names = true}) == 0);
  constexpr int kMultipath = 262;
  check_refused("MPTCP", making_socket(AF_INET, SOCK_STREAM, kMultipath));
  check_refused("netlink", making_socket(AF_NETLINK, SOCK_RAW, 0));
  check_refused("netlink", making_socket(AF_NETLINK, SOCK_DGRAM, 0));
  check_refused("packet", making_socket(AF_PACKET, SOCK_DGRAM, 0));
  check_refused("raw", making_socket(AF_INET, SOCK_RAW, IPPROTO_TCP));
  check_refused("UDP-Lite", making_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE));
  check_refused("sctp", making_socket(AF_INET, SOCK_SEQPACKET, 0));
  check_refused("pair", raw(SYS_socketpair, AF_INET, SOCK_STREAM, 0, 0));
  std::array<int, 2> pair{};
  CHECK(with([&] { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()); }) ==
        0);
  // The kernel looks at 32 bits of these.
  constexpr long kHigh = 1L << 32;
  check_refused("netlink", raw(SYS_socket, kHigh | AF_NETLINK, SOCK_DGRAM, 0));
  check_refused("raw", raw(SYS_socket, AF_INET, kHigh | SOCK_RAW, IPPROTO_TCP));
  check_refused("MPTCP", raw(SYS_socket, AF_INET, SOCK_STREAM, kHigh | kMultipath));
}

TEST_CASE("nothing is sent by fast open", "[guard]") {
  check_refused("sendto", raw(SYS_sendto, -1, 0, 0, MSG_FASTOPEN | MSG_NOSIGNAL));
  check_refused("sendmsg", raw(SYS_sendmsg, -1, 0, MSG_FASTOPEN));
  check_refused("sendmmsg", raw(SYS_sendmmsg, -1, 0, 0, MSG_FASTOPEN));
  check_refused("option", raw(SYS_setsockopt, -1, IPPROTO_TCP, TCP_FASTOPEN_CONNECT));
  CHECK(with(raw(SYS_sendto, -1, 0, 0, MSG_NOSIGNAL)) == EBADF);
  CHECK(with(raw(SYS_setsockopt, -1, IPPROTO_TCP, TCP_NODELAY)) == EBADF);
}

TEST_CASE("modes and times of open files change only where a server does that", "[guard]") {
  const tests::TemporaryFolder folder;
  folder.write("mine", "x");
  const std::string path = folder.path() + "/mine";
  const net::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const std::vector<Call> by_descriptor = {
      [&] { return ::fchmod(fd.get(), 0600); },
      [&] { return ::fchown(fd.get(), ::geteuid(), ::getegid()); },
      [&] { return ::futimens(fd.get(), nullptr); }};
  for (const Call& call : by_descriptor) {
    CHECK(with(call) == EACCES);
    CHECK(with(call, {.set_modes = true}) == 0);
  }
  check_refused("chmod", [&] { return ::chmod(path.c_str(), 0600); });
  check_refused("chown", [&] { return ::chown(path.c_str(), ::geteuid(), ::getegid()); });
  check_refused("utimensat", [&] { return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); });
}

TEST_CASE("what a server does is not refused", "[guard]") {
  CHECK(with([] {
          std::atomic<int> ran = 0;
          std::thread([&] { ran = 1; }).join();  // by clone3, or without it
          return ran - 1;
        }) == 0);
  CHECK(with([] {
          const pid_t child = ::fork();
          if (child == 0) ::_exit(0);
          return ::waitpid(child, nullptr, 0);
        }) == 0);
}

TEST_CASE("no thread can listen once that is refused", "[guard]") {
  const net::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Call listening = [&] { return ::listen(fd.get(), 1); };
  CHECK(with(listening) == 0);
  CHECK(errno_of(listening, &guard::refuse_listening) == EACCES);
  // A thread that was there before.
  const Call in_an_older_thread = [&] {
    std::atomic<bool> may_go = false;
    int result = -1;
    int error = 0;
    std::thread older([&] {
      while (!may_go) std::this_thread::yield();
      result = ::listen(fd.get(), 1);
      error = errno;
    });
    if (!guard::refuse_listening()) error = kNoFilter;
    may_go = true;
    older.join();
    errno = error;
    return static_cast<long>(result);
  };
  CHECK(with(in_an_older_thread) == EACCES);
}
