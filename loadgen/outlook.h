// What the main thread finds out about a run while it waits for its threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loadgen/figures/recorder.h"

namespace loadgen {

// Times are of base::now_ns(). One thread.
class Outlook {
 public:
  // The threads send their first requests. Until then nothing is found out.
  void begin(std::int64_t now_ns) { begun_ns_ = now_ns; }

  // The user wants the run to end. Only the first call counts.
  void note_signal(std::int64_t now_ns) {
    if (signal_ns_ == 0) signal_ns_ = now_ns;
  }

  // The cause for which the run is of no use: it has lasted for a second, and every request failed
  // for the same cause, which does not go away by itself.
  std::optional<Cause> hopeless(std::int64_t now_ns, const Live& live) const;

  // Returns once, a moment after the signal, a line about the requests that the run still waits
  // for. Otherwise empty.
  std::string tell(std::int64_t now_ns, const Live& live);

 private:
  bool has_to_tell() const { return signal_ns_ != 0 && !has_told_; }

  std::int64_t begun_ns_ = 0;
  std::int64_t signal_ns_ = 0;
  bool has_told_ = false;
};

}  // namespace loadgen
