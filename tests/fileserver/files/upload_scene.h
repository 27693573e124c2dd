// A served folder in memory, and uploads into it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fileserver/files/prefetched_files.h"
#include "fileserver/files/uploads.h"
#include "tests/temporary_folder.h"

namespace tests {

inline const fileserver::MayChange kAlways = [](const fileserver::FileVersion*) { return true; };
inline const fileserver::MayChange kIfNew = [](const fileserver::FileVersion* current) {
  return current == nullptr;
};
inline const fileserver::MayChange kIfThere = [](const fileserver::FileVersion* current) {
  return current != nullptr;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct UploadScene {
  UploadScene() {
    auto opened = fileserver::Fence::around(folder.path());
    fence = std::make_shared<const fileserver::Fence>(std::move(*opened));
    files.emplace(fence, fileserver::MemoryRule{1 << 20}, [] { return true; });
    uploads.emplace(fence, *files);
  }

  fileserver::UploadStatus put(const std::string& name, std::string_view bytes,
                               const fileserver::MayChange& may = kAlways) {
    fileserver::Upload upload = uploads->begin(name, bytes.size(), may);
    upload.write(bytes);
    return uploads->publish(std::move(upload), may).status;
  }

  std::string on_disk(const std::string& name) const { return content_of(folder.path(name)); }

  // What a request gets now, if it comes from memory.
  std::string in_memory(const std::string& name) {
    const auto opened = files->open(name);
    if (!opened || !opened->cached || !opened->cached->region.is_empty()) return "not in memory";
    const auto bytes = opened->cached->bytes();
    return {bytes.data(), bytes.size()};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  tests::TemporaryFolder folder;
  std::shared_ptr<const fileserver::Fence> fence;
  std::optional<fileserver::PrefetchedFiles> files;
  std::optional<fileserver::Uploads> uploads;
};

}  // namespace tests
