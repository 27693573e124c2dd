#include "fileserver/files/upload_name.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <cstdint>

#include "base/file_io.h"

namespace fileserver {

std::string random_upload_name() {
  std::uint64_t number = 0;
  base::retried([&] { return ::getrandom(&number, sizeof number, 0); });
  return fmt::format("{}{:016x}", kUploadPrefix, number);
}

}  // namespace fileserver
