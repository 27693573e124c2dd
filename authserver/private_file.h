// Writes a file that only its owner may read, and that is complete or not there at all.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace authserver {

// Calls `fill` with the descriptor of a new file, `path`.part. Once its content is on disk, renames
// it to `path`. If anything fails before that, the old file at `path` stays and the new one is
// removed. After a power cut `path`.part may be left; the next call replaces it.
//
// A symbolic link at `path` stays a link: the file that it points to is replaced.
//
// Returns the error of `fill`, or kInternal if the file cannot be written or `path` is not a
// regular file. `fill` borrows the descriptor for the time of the call.
base::Status write_private_file(const std::string& path,
                                const std::function<base::Status(int fd)>& fill);

}  // namespace authserver
