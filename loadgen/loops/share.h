// Which of the users of a run share a thread.
#pragma once

#include <cstdint>

namespace loadgen {

// The users of a thread are those whose number, modulo the number of threads, is its own. All count
// from 0.
struct Share {
  int thread = 0;
  int threads = 1;

  int users_of(int users) const { return (users - thread + threads - 1) / threads; }
  int number_of(std::uint32_t user) const { return thread + static_cast<int>(user) * threads; }
};

}  // namespace loadgen
