#include "loadgen/clients/download.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace loadgen {

Download::Download(std::string folder, int thread)
    : folder_(std::move(folder)),
      unfinished_path_(folder_ + "/.loadgen-" + std::to_string(thread) + ".part") {}

Download::~Download() {
  if (is_wanted()) remove_unfinished();
}

void Download::begin(std::string_view name) {
  if (!is_wanted() || failure_) return;
  path_ = folder_ + "/" + std::string(name);
  file_ = std::ofstream(unfinished_path_, std::ios::binary | std::ios::trunc);
  if (!file_) fail("open " + unfinished_path_);
}

void Download::keep(std::string_view bytes) {
  if (!is_wanted() || failure_) return;
  if (!file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    fail("write " + unfinished_path_);
}

void Download::finish() {
  if (!is_wanted() || failure_) return;
  file_.close();
  if (!file_) return fail("write " + unfinished_path_);
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), failed);
  if (!failed) std::filesystem::rename(unfinished_path_, path_, failed);
  if (failed) failure_ = "--save: " + path_ + ": " + failed.message();
}

void Download::fail(const std::string& what) {
  failure_ = "--save: " + what + ": " + std::generic_category().message(errno);
}

void Download::remove_unfinished() const {
  std::error_code ignored;
  std::filesystem::remove(unfinished_path_, ignored);
}

}  // namespace loadgen
