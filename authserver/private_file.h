// A file that only its owner may read, and that is there whole or not at all.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace authserver {

// Lets `fill` write into `path`.part, which gets its own name when all of it is on disk: whatever
// fails before, even the power, leaves the file that was there. Returns what `fill` does, or
// kInternal, also when `path` is no file.
base::Status write_private_file(const std::string& path,
                                const std::function<base::Status(int fd)>& fill);

}  // namespace authserver
