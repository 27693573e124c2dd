// Why a request does not count: an error that the server answered, or one that only its client can
// see.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include "base/error.h"

namespace loadgen {

// What no reply says.
enum class Fault {
  kTimeout,   // no whole reply within --timeout
  kConnect,   // no connection
  kClosed,    // the connection ended before the reply did
  kMismatch,  // the file's bytes are not those of the copy
  kProtocol,  // the server does not speak the protocol
};

class Cause {
 public:
  static constexpr std::size_t kCodes = std::size(base::kAllErrorCodes);
  static constexpr std::size_t kCount = kCodes + 5;

  // NOLINTBEGIN(google-explicit-constructor): a code or a fault is a cause.
  constexpr Cause(base::ErrorCode code) : index_(static_cast<std::size_t>(code)) {}
  constexpr Cause(Fault fault) : index_(kCodes + static_cast<std::size_t>(fault)) {}
  // NOLINTEND(google-explicit-constructor)

  // From 0 to kCount - 1, for counting.
  constexpr std::size_t index() const { return index_; }

  // The word that the results use: the protocol's own for what the server answered.
  static constexpr std::string_view kFaultWords[] = {"timeout", "connect", "closed", "mismatch",
                                                     "protocol"};
  static std::string_view word_of(std::size_t index) {
    return index < kCodes ? base::word_of(base::kAllErrorCodes[index])
                          : kFaultWords[index - kCodes];
  }

  // Whether the connection is known to stand right behind a reply afterwards, so that it can take
  // the next request.
  bool leaves_connection_usable() const {
    if (index_ < kCodes) return !base::closes_connection(base::kAllErrorCodes[index_]);
    return index_ == Cause(Fault::kMismatch).index_;
  }

  bool operator==(const Cause&) const = default;

 private:
  std::size_t index_;
};

}  // namespace loadgen
