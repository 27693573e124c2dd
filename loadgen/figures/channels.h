// What is measured only where a file comes by several channels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace loadgen {

struct ChannelTally {
  // The most of any file: bytes that waited for earlier ones, and connections that brought a part.
  std::uint64_t reorder_bytes_max = 0;
  std::uint64_t used = 0;

  std::uint64_t lost = 0;  // connections that ended before the file did, and were made again
  std::uint64_t resumed_bytes = 0;  // that an earlier run had saved
  std::uint64_t begun_again = 0;    // files of which an earlier run had saved what cannot be used

  void add(const ChannelTally& other) {
    reorder_bytes_max = std::max(reorder_bytes_max, other.reorder_bytes_max);
    used = std::max(used, other.used);
    lost += other.lost;
    resumed_bytes += other.resumed_bytes;
    begun_again += other.begun_again;
  }
};

}  // namespace loadgen
