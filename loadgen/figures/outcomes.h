// What has become of the requests of a run so far, as a set.
#pragma once

#include <cstdint>
#include <optional>

#include "loadgen/figures/cause.h"

namespace loadgen {

// Of all requests that have ended, those of a warm-up and a cool-down included: whether one
// succeeded, and the causes for which others failed.
class Outcomes {
 public:
  Outcomes() = default;
  explicit Outcomes(std::uint64_t bits) : bits_(bits) {}

  // What became of one request: why it failed, or that it succeeded.
  static Outcomes of(const std::optional<Cause>& failure) {
    return Outcomes(std::uint64_t{1} << (failure ? failure->index() : Cause::kCount));
  }

  void add(Outcomes other) { bits_ |= other.bits_; }
  std::uint64_t bits() const { return bits_; }

  // The cause for which everything failed, if it is one that does not go away by itself: nobody
  // listens, the account or its password is wrong, or there is no such file.
  std::optional<Cause> hopeless() const {
    for (const Cause cause : {Cause(Fault::kConnect), Cause(base::ErrorCode::kDenied),
                              Cause(base::ErrorCode::kNotFound)}) {
      if (bits_ == of(cause).bits_) return cause;
    }
    return {};
  }

 private:
  std::uint64_t bits_ = 0;  // by Cause::index(); the next one is success
};

static_assert(Cause::kCount < 64);

}  // namespace loadgen
