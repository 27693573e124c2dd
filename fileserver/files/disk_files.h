// Files that are read from disk for each request (--files disk), and those that the prefetched
// files have no memory for.
#pragma once

#include <memory>

#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"

namespace fileserver {

// How files are read from disk. The defaults are for speed; others are for measuring.
struct DiskReads {
  std::size_t piece_bytes = kDefaultPieceBytes;  // that one read asks for
  bool has_read_ahead = true;  // whether the system reads further pieces before they are asked for
};

// Any thread. A file that changed just now is given a moment to settle, unless it is an upload.
class DiskFiles : public Files {
 public:
  explicit DiskFiles(std::shared_ptr<const Fence> fence, DiskReads reads = {})
      : fence_(std::move(fence)), reads_(reads) {}

  base::Result<OpenedFile> open(std::string_view name) override;
  std::optional<NamedFile> publish(const std::string& name, int fd,
                                   const GiveName& give_name) override;
  bool is_distinct(const FileVersion& version) const override {
    return uploaded_versions_.has(version) || is_settled(version);
  }

 private:
  struct Looked {
    FileVersion version;
    bool was_settled;
  };
  Looked settled_version(int fd, FileVersion version) const;

  // Shared with PrefetchedFiles, which sends some files from disk.
  const std::shared_ptr<const Fence> fence_;
  const DiskReads reads_;
  UploadedVersions uploaded_versions_;
};

}  // namespace fileserver
