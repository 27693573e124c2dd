// Why a request failed: an error that the server answered, or a fault that only the client can see.
#pragma once

#include <cstddef>
#include <string_view>

#include "wire/error_word.h"

namespace loadgen {

// The failures that no reply tells of.
enum class Fault {
  kTimeout,   // no complete reply within --timeout
  kConnect,   // no connection could be made
  kClosed,    // the connection ended before the end of the reply
  kMismatch,  // the file differs from its copy
  kProtocol,  // the server does not speak the protocol

  // Open loop: it was due, but all threads were busy until the end of the drain, or of a run that a
  // signal ended.
  kUnfinished,

  kTooSlow,  // crowd: a fetch was below the least rate
  kChanged,  // with channels: the file was replaced while its parts came
};

// The word in the results. Empty for a value that is not an enumerator.
constexpr std::string_view word_of(Fault fault) {
  switch (fault) {
    case Fault::kTimeout: return "timeout";
    case Fault::kConnect: return "connect";
    case Fault::kClosed: return "closed";
    case Fault::kMismatch: return "mismatch";
    case Fault::kProtocol: return "protocol";
    case Fault::kUnfinished: return "unfinished";
    case Fault::kTooSlow: return "too-slow";
    case Fault::kChanged: return "changed";
  }
  return {};
}

// How many faults there are. The compiler demands a word for each, so none is forgotten.
consteval std::size_t count_faults() {
  std::size_t count = 0;
  while (!word_of(static_cast<Fault>(count)).empty()) ++count;
  return count;
}

// An error code or a fault.
class Cause {
 public:
  static constexpr std::size_t kCodes = wire::kErrorCodes.size();
  static constexpr std::size_t kCount = kCodes + count_faults();

  // NOLINTBEGIN(google-explicit-constructor): a code or a fault is a cause.
  constexpr Cause(base::ErrorCode code) : index_(static_cast<std::size_t>(code)) {}
  constexpr Cause(Fault fault) : index_(kCodes + static_cast<std::size_t>(fault)) {}
  // NOLINTEND(google-explicit-constructor)

  // From 0 to kCount - 1, for counting.
  constexpr std::size_t index() const { return index_; }

  // The word in the results. For an error code it is the word of the protocol.
  // Requires: index < kCount.
  static constexpr std::string_view word_of(std::size_t index) {
    return index < kCodes ? wire::word_of(wire::kErrorCodes[index])
                          : loadgen::word_of(static_cast<Fault>(index - kCodes));
  }

  std::string_view word() const { return word_of(index_); }

  bool operator==(const Cause&) const = default;

 private:
  std::size_t index_;
};

// The indexes are dense, so that an array of kCount counters has one for each cause.
static_assert(Cause(wire::kErrorCodes.back()).index() + 1 == Cause::kCodes);
static_assert(Cause(Fault::kTimeout).index() == Cause::kCodes);
static_assert(Cause(Fault::kChanged).index() + 1 == Cause::kCount);

}  // namespace loadgen
