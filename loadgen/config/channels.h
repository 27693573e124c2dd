// One file by several connections at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flags/option.h"

namespace loadgen {

enum class Protocol;

// Where the bytes of a part are written when they come.
enum class Write {
  kInOrder,  // behind all bytes before them, for which they wait in memory
  kInPlace,  // where they belong
};

struct ChannelOptions {
  int count = 0;  // connections for each file; 0: a file comes by the one connection of its thread
  std::int64_t pool_bytes = 8 << 20;  // for parts that come early, of each file
  Write write = Write::kInOrder;
};

inline constexpr std::int64_t kLeastPartBytes = 64 << 10;

// The least pool: a part for each channel, and one more.
constexpr std::int64_t least_pool_bytes(const ChannelOptions& options) {
  return (options.count + 1) * kLeastPartBytes;
}

// How many bytes one request of a channel asks for, of a file of this size. Small parts keep all
// channels at work to the end of the file. Large ones keep the requests few. FTP needs a new
// connection for each part, so its parts are larger. Requires: `count` is not 0, and the pool is
// large enough.
std::size_t part_bytes_of(const ChannelOptions& options, Protocol protocol,
                          std::uint64_t file_bytes);

// Declares a group of --help.
void declare_channels(flags::App& app, ChannelOptions& options);

const char* word_of(Write write);

}  // namespace loadgen
