// Files read from disk for every request: open, read into a buffer, send. The paper's way before it
// prefetched.
#pragma once

#include <memory>

#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"

namespace fileserver {

// Immutable once built; any thread.
class DiskFiles : public Files {
 public:
  explicit DiskFiles(std::shared_ptr<const Fence> fence) : fence_(std::move(fence)) {}

  base::Status send(std::string_view name, serve::Connection& connection) override;

 private:
  const std::shared_ptr<const Fence>
      fence_;  // shared with the prefetched files that fall back to these
};

}  // namespace fileserver
