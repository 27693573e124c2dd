#include "fileserver/rights/shared_text.h"

namespace fileserver {

namespace {

// A process that dies while it copies leaves the text as it was, and only the parent publishes.
class Hold {
 public:
  explicit Hold(base::ProcessMutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Hold() { mutex_.unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  base::ProcessMutex& mutex_;
};

}  // namespace

void SharedText::publish(std::string_view text) {
  const Hold hold(mutex_);
  size_ = text.copy(bytes_.data(), bytes_.size());
  version_.fetch_add(1, std::memory_order_release);
}

SharedText::Copy SharedText::copy() {
  const Hold hold(mutex_);
  return {std::string(bytes_.data(), size_), version()};
}

}  // namespace fileserver
