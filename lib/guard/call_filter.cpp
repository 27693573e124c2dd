#include "guard/call_filter.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace guard {

namespace {

// By name, as numbers differ between architectures. A name that the library does not know is
// covered by refuse_unknown().
constexpr const char* kNeverMade[] = {
    // programs, and other processes
    "execve", "execveat", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
    "pidfd_getfd",
    // other ways to do what is refused here
    "io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at", "bind",
    // modes, owners, attributes and times of files by their names
    "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "setxattr", "lsetxattr",
    "setxattrat", "removexattr", "lremovexattr", "removexattrat", "utime", "utimes", "futimesat",
    "file_setattr",
    // namespaces and mounts
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount",
    "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    // the kernel
    "bpf", "userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key", "fanotify_init",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "syslog",
    // the host
    "sethostname", "setdomainname", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
    "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "iopl", "ioperm", "vhangup"};

// LeakSanitizer stops the threads of its own process as a debugger does.
#if !defined(TURNSTILE_SANITIZE_ADDRESS)
constexpr const char* kDebuggers[] = {"ptrace"};
#endif

constexpr const char* kModesOfOpenFiles[] = {"fchmod", "fchown", "fsetxattr", "fremovexattr"};

constexpr scmp_datum_t kFastOpen = MSG_FASTOPEN;
constexpr scmp_datum_t kLow = 0xffffffff;  // the kernel takes no more of an int
constexpr scmp_datum_t kNewNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID |
                                        CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

// A filter in the making. What is added after a failure is ignored, and load() tells about it.
class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW)) {
    if (context_ == nullptr) fail(-ENOMEM);
    set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EACCES));
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree
    set(SCMP_FLTATR_CTL_SSB, 1);       // without it, older kernels slow the whole process down
  }
  ~Filter() {
    if (context_ != nullptr) ::seccomp_release(context_);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void set(scmp_filter_attr attribute, std::uint32_t value) {
    if (failure_ == 0) fail(::seccomp_attr_set(context_, attribute, value));
  }

  void refuse(int call, std::initializer_list<scmp_arg_cmp> when = {}, int error = EACCES) {
    if (failure_ != 0 || call == __NR_SCMP_ERROR) return;
    fail(::seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call,
                                  static_cast<unsigned>(when.size()), when.begin()));
  }

  template <std::size_t kCount>
  void refuse_all(const char* const (&names)[kCount]) {
    for (const char* const name : names) refuse(::seccomp_syscall_resolve_name(name));
  }

  base::Status load() {
    if (failure_ == 0) fail(::seccomp_load(context_));
    if (failure_ == 0) return base::kDone;
    return base::errno_error(base::ErrorCode::kUnavailable, "seccomp", -failure_);
  }

 private:
  void fail(int result) {
    if (result < 0) failure_ = result;
  }

  const scmp_filter_ctx context_;
  int failure_ = 0;  // an errno, negated
};

// The value of one argument, with the bits of `mask` alone.
scmp_arg_cmp is(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// Newer calls than those of the library have the same number on all architectures. Programs find
// another way, as on an older kernel.
void refuse_unknown(Filter& filter) {
  constexpr int kFirst = 424;  // from here on the numbers are the same
  constexpr int kEnd = 512;    // from here on x86 has numbers of another kind
  for (int call = kFirst; call < kEnd; ++call) {
    char* const name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);
    if (name == nullptr) filter.refuse(call, {}, ENOSYS);
    ::free(name);
  }
}

// Leaves TCP, UDP and sockets of Unix.
void refuse_sockets(Filter& filter, const Calls& still_made) {
  const int call = SCMP_SYS(socket);
  constexpr scmp_datum_t kType = 0xf;  // the rest are flags
  const auto refuse_range = [&](unsigned argument, int first, int last) {
    for (int value = first; value <= last; ++value)
      filter.refuse(call, {is(argument, kLow, static_cast<scmp_datum_t>(value))});
  };
  filter.refuse(call, {{0, SCMP_CMP_GT, AF_INET6, 0}});
  refuse_range(0, AF_INET + 1, AF_INET6 - 1);
  for (scmp_datum_t type = SOCK_DGRAM + 1; type <= kType; ++type)
    filter.refuse(call, {is(1, kType, type)});
  filter.refuse(call, {{2, SCMP_CMP_GT, IPPROTO_UDP, 0}});  // MPTCP too
  refuse_range(2, 1, IPPROTO_TCP - 1);
  refuse_range(2, IPPROTO_TCP + 1, IPPROTO_UDP - 1);
  filter.refuse(SCMP_SYS(socketpair), {{0, SCMP_CMP_NE, AF_UNIX, 0}});
  if (still_made.look_up_names) return;
  for (const auto family : {scmp_datum_t{AF_INET}, scmp_datum_t{AF_INET6}})
    filter.refuse(call, {is(0, kLow, family), is(1, kType, SOCK_DGRAM)});
}

// These connect without connect(), which is where Landlock looks.
void refuse_fast_open(Filter& filter) {
  filter.refuse(SCMP_SYS(sendto), {is(3, kFastOpen, kFastOpen)});
  filter.refuse(SCMP_SYS(sendmsg), {is(2, kFastOpen, kFastOpen)});
  filter.refuse(SCMP_SYS(sendmmsg), {is(3, kFastOpen, kFastOpen)});
  for (const auto option : {scmp_datum_t{TCP_FASTOPEN}, scmp_datum_t{TCP_FASTOPEN_CONNECT}})
    filter.refuse(SCMP_SYS(setsockopt), {is(1, kLow, IPPROTO_TCP), is(2, kLow, option)});
}

// clone3() has its flags in memory, where no filter can look. The C library uses clone() then.
void refuse_namespaces(Filter& filter) {
  filter.refuse(::seccomp_syscall_resolve_name("clone3"), {}, ENOSYS);
  for (scmp_datum_t flag = 1; flag <= kNewNamespaces; flag <<= 1) {
    if ((flag & kNewNamespaces) != 0) filter.refuse(SCMP_SYS(clone), {is(0, flag, flag)});
  }
}

void refuse_changes_of_files(Filter& filter, const Calls& still_made) {
  if (still_made.set_modes) {
    filter.refuse(SCMP_SYS(utimensat), {{1, SCMP_CMP_NE, 0, 0}});  // by a name
  } else {
    filter.refuse_all(kModesOfOpenFiles);
    filter.refuse(SCMP_SYS(utimensat));
  }
}

// Puts bytes into the terminal of whoever started the server.
void refuse_typing(Filter& filter) {
  constexpr scmp_datum_t kLinuxConsole = 0x541c;  // TIOCLINUX, which pastes
  for (const scmp_datum_t request : {scmp_datum_t{TIOCSTI}, kLinuxConsole})
    filter.refuse(SCMP_SYS(ioctl), {is(1, kLow, request)});
}

}  // namespace

base::Status refuse_calls(const Calls& still_made) {
  Filter filter;
  filter.refuse_all(kNeverMade);
#if !defined(TURNSTILE_SANITIZE_ADDRESS)
  filter.refuse_all(kDebuggers);
#endif
  refuse_unknown(filter);
  refuse_sockets(filter, still_made);
  refuse_fast_open(filter);
  refuse_namespaces(filter);
  refuse_changes_of_files(filter, still_made);
  refuse_typing(filter);
  return filter.load();
}

base::Status refuse_listening() {
  Filter filter;
  filter.set(SCMP_FLTATR_CTL_TSYNC, 1);
  filter.refuse(SCMP_SYS(listen));
  return filter.load();
}

}  // namespace guard
