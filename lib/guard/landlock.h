// The system calls of Landlock (man 7 landlock), which the C library does not wrap.
//
// The headers of Debian 12 and Ubuntu 22.04 lack what newer kernels can. So the values that came
// after the first version are defined here, as the kernel's documentation gives them.
#pragma once

#include <linux/landlock.h>

#include <cstdint>

#include "net/fd.h"

namespace guard::landlock {

using Rights = std::uint64_t;

constexpr Rights kRefer = 1U << 13;        // version 2: renaming from one folder into another
constexpr Rights kTruncate = 1U << 14;     // version 3
constexpr Rights kIoctlDevice = 1U << 15;  // version 5

constexpr Rights kBindTcp = 1U << 0;     // version 4
constexpr Rights kConnectTcp = 1U << 1;  // version 4

constexpr Rights kAbstractSockets = 1U << 0;  // version 6
constexpr Rights kSignals = 1U << 1;          // version 6

// What a file can be used for; the other rights are those of folders.
constexpr Rights kFileRights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                               LANDLOCK_ACCESS_FS_READ_FILE | kTruncate | kIoctlDevice;

// What a ruleset takes away, except for what its rules allow.
struct Handled {
  Rights files = 0;
  Rights tcp = 0;
  Rights scopes = 0;  // reaching processes outside of the sandbox
};

// Everything that this version of the kernel's interface can take away.
Handled all_of(int version);

// Returns the version of the kernel's interface, or -1 with errno if there is none.
int version();

// Returns an open ruleset, or none with errno.
net::Fd make_ruleset(const Handled& handled);

// Allows `rights` on what `path_fd` (opened with O_PATH) stands for, and beneath it. False with
// errno on failure.
bool allow_beneath(const net::Fd& ruleset, int path_fd, Rights rights);

// Allows `rights` on a TCP port. False with errno on failure.
bool allow_port(const net::Fd& ruleset, std::uint16_t port, Rights rights);

// Applies the ruleset to the calling thread and all that it starts later. False with errno on
// failure.
bool enforce(const net::Fd& ruleset);

}  // namespace guard::landlock
