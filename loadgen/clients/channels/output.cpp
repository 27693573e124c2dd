#include "loadgen/clients/channels/output.h"

#include <algorithm>
#include <vector>

namespace loadgen {

Output::Output(const Config& config, int thread)
    : config_(config),
      is_in_order_(config.channels.write == Write::kInOrder),
      partial_(config.save, thread),
      reference_(config.verify_root) {}

PartialFile::Left Output::begin(const PartialFile::File& file) {
  size_bytes_ = file.size_bytes;
  if (config_.must_verify) reference_.begin(file.name);
  const PartialFile::Left left = partial_.begin(file, is_in_order_);
  if (config_.must_verify) compare_saved(left.kept_bytes);
  return left;
}

void Output::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (config_.must_verify && is_in_order_)
    reference_.compare({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  partial_.write(offset, bytes);
}

bool Output::finish() {
  if (config_.must_verify && !is_in_order_) compare_saved(size_bytes_);
  const bool is_right = !config_.must_verify || reference_.is_whole_and_equal();
  partial_.finish();
  return is_right;
}

void Output::compare_saved(std::uint64_t bytes) {
  std::vector<char> piece(std::min<std::uint64_t>(bytes, 1 << 20));
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t wanted = std::min<std::uint64_t>(bytes - at, piece.size());
    const std::size_t got = partial_.read(at, std::span(piece).first(wanted));
    if (got == 0) return;
    reference_.compare({piece.data(), got});
    at += got;
  }
}

}  // namespace loadgen
