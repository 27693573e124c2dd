// When a file or a folder was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fileserver/files/fence.h"

namespace fileserver {

// In seconds since 1970. The empty name is the served folder; links are followed. Nothing if there
// is no such file or folder, or the file system does not keep that time.
std::optional<std::int64_t> created_s(const Fence& fence, std::string_view name);

}  // namespace fileserver
