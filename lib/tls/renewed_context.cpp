#include "tls/renewed_context.h"

#include "base/log.h"

namespace tls {

base::Status RenewedContext::replace(Logs logs) {
  auto made = read_();
  if (!made) return made.error();
  note_(made->get(), logs);
  const base::Lock lock(mutex_);
  context_.swap(*made);
  return base::kDone;
}

base::Status RenewedContext::open() {
  {
    const base::Lock lock(mutex_);
    if (context_ != nullptr) return base::kDone;
  }
  return replace(Logs::kYes);
}

base::Status RenewedContext::read_again() {
  const auto done = replace(Logs::kYes);
  if (!done) {
    base::log::error("the certificate stays as it was reason={}",
                     base::log::quoted_long(done.error().context));
    return done;
  }
  // This process has followed before its children are told, or it would read once more.
  readings_.store(readings_of_all() + 1);
  ++readings_of_all();
  return done;
}

// A child that cannot read what its parent could goes on with what it has.
std::shared_ptr<ssl_ctx_st> RenewedContext::current() {
  const std::uint32_t all = readings_of_all().load(std::memory_order_relaxed);
  if (readings_.load(std::memory_order_relaxed) < all) {
    readings_.store(all);
    if (const auto done = replace(Logs::kNo); !done)
      base::log::error("a process goes on with the old certificate reason={}",
                       base::log::quoted_long(done.error().context));
  }
  const base::Lock lock(mutex_);
  return context_;
}

}  // namespace tls
