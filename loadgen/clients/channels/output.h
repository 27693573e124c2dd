// Where the bytes of a file go that comes by channels: to --save, and to --verify.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "loadgen/clients/channels/partial_file.h"
#include "loadgen/clients/reference.h"
#include "loadgen/config/config.h"

namespace loadgen {

// One file after the other. One thread.
class Output {
 public:
  // `config` must outlive it. `thread` as for PartialFile.
  Output(const Config& config, int thread);

  // Whether the bytes go anywhere.
  bool is_wanted() const { return config_.must_verify || partial_.is_wanted(); }

  // Starts a file. Bytes that are kept of an earlier run are compared at once.
  PartialFile::Left begin(const PartialFile::File& file);

  // The next bytes in order, or with --write in-place any.
  void keep(std::uint64_t offset, std::span<const std::byte> bytes);

  // Ends a file that has come whole: it gets its name. Returns whether it is like its copy.
  bool finish();

  // What was saved may be of several versions: no later run goes on with it.
  void forget() { partial_.forget(); }

  // Ends a file that has not. What was saved stays.
  void leave() { partial_.leave(); }

  const std::optional<std::string>& failure() const { return partial_.failure(); }

 private:
  void compare_saved(std::uint64_t bytes);

  const Config& config_;
  const bool is_in_order_;
  PartialFile partial_;
  Reference reference_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace loadgen
