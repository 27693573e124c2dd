// Catches what a request, a connection or a thread may throw.
#pragma once

#include <exception>
#include <string_view>

#include "base/log.h"

namespace base {

// Calls work(). Returns false if it threw: out of memory, or a bug. This is logged as
// "<what> reason=...".
//
// The caller answers behind the call. A handler must not wait for a peer or for another thread:
// sessions that share a thread would end the handlers of each other. So handlers are short, and on
// the path of a request this is the only one.
template <typename Work>
[[nodiscard]] bool completes(std::string_view what, Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& failure) {
    log::error("{} reason=\"{}\"", what, failure.what());
  }
  return false;
}

}  // namespace base
