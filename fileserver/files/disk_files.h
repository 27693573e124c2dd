// Files that are read from disk for each request (--files disk), and those that the prefetched
// files have no memory for.
#pragma once

#include <memory>

#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"

namespace fileserver {

// Immutable once built; any thread. A file that changed just now is given a
// moment to settle.
class DiskFiles : public Files {
 public:
  explicit DiskFiles(std::shared_ptr<const Fence> fence) : fence_(std::move(fence)) {}

  base::Result<OpenedFile> open(std::string_view name) override;

 private:
  // Shared with PrefetchedFiles, which sends some files from disk.
  const std::shared_ptr<const Fence> fence_;
};

}  // namespace fileserver
