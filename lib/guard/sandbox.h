// Takes from this process what it does not need. An attacker who gets control of it then reaches
// neither other files nor other servers. The kernel enforces it: with Landlock (Linux 5.13 and
// newer) what files and TCP servers are reached, with seccomp what system calls are made.
//
// What is open stays usable: sockets, files, standard error. The status of any file can still be
// read (stat), and Unix-domain sockets are not restricted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "guard/call_filter.h"
#include "net/address.h"

namespace guard {

// What a process still needs. A path that does not exist is passed over. A path counts for the file
// or folder that it names now. A folder that is renamed stays allowed, and a new one with its name
// is not allowed.
struct Allowed {
  std::vector<std::string> readable;   // files, and folders with all that is beneath them
  std::vector<std::string> writable;   // folders in which files are also made, written and removed
  std::vector<std::string> editable;   // the same, folders in them too, and renaming
  std::vector<std::string> clearable;  // folders in which files are only removed
  std::vector<std::uint16_t> ports;    // of TCP servers to connect to, from Linux 6.7
  Calls calls;

  // Allows to connect to this server. If the host is a name, also what looking it up needs. A
  // Unix-domain socket with a path needs nothing: Landlock does not restrict it.
  void connect_to(const std::string& host, std::uint16_t port);

  // Allows to remove the file of a Unix-domain socket at the end. An address of TCP needs nothing.
  void listen_on(const net::HostPort& address);
};

// What is enforced, in a few words for the log: "files, TCP and system calls".
struct Restricted {
  std::string what;
  std::string gap;  // why either files or system calls are not restricted; empty if both are
};

// Takes everything else away from this thread, and from all threads and processes that it starts
// later. No program can be executed any more. Cannot be undone.
//
// kUnavailable with the reasons if the kernel has neither Landlock nor seccomp, or a container
// forbids both; then nothing was taken away.
//
// Requires: forbid_more_rights(), and no other thread was started.
base::Result<Restricted> restrict_to(const Allowed& allowed);

}  // namespace guard
