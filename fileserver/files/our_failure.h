// Whose fault it is that a file or a folder cannot be had.
#pragma once

#include <cerrno>

namespace fileserver {

// Whether the errno of a failed call speaks of us, who are short of something, and not of what was
// asked for: that may well be there, and the call may succeed a moment later.
inline bool is_our_failure(int errno_value) {
  return errno_value == EMFILE || errno_value == ENFILE || errno_value == ENOMEM ||
         errno_value == EIO;
}

}  // namespace fileserver
