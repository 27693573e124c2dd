// What is measured of the handshakes of --tls.
#pragma once

#include <cstdint>

#include "loadgen/figures/histogram.h"

namespace loadgen {

// Of those that succeeded, in the whole run. Written by one thread. Read by others after it was
// joined.
struct HandshakeTally {
  std::uint64_t made = 0;
  std::uint64_t resumed = 0;  // of these, with what an earlier connection had got
  Histogram time_ns;

  void add(std::int64_t ns, bool is_resumed) {
    ++made;
    resumed += is_resumed ? 1 : 0;
    time_ns.add(ns);
  }

  void add(const HandshakeTally& other) {
    made += other.made;
    resumed += other.resumed;
    time_ns.add(other.time_ns);
  }
};

}  // namespace loadgen
