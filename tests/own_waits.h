// A thread that owns many connections, without any: it waits for nothing, and does all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/waits.h"

namespace tests {

// It is that of this thread while it lives, and keeps what is to be destroyed elsewhere until then.
// Tests replace what else they look at.
class OwnWaits : public base::Waits {
 public:
  OwnWaits() { base::my_waits = this; }
  ~OwnWaits() { base::my_waits = nullptr; }
  OwnWaits(const OwnWaits&) = delete;
  OwnWaits& operator=(const OwnWaits&) = delete;

  // How much others were left to destroy.
  std::size_t left() const { return left_.size(); }

  bool wait_for(int /*fd*/, short /*events*/, std::int64_t /*until_ns*/) override { return true; }
  bool sleep_on(const void* /*word*/, Has /*has*/, std::uint32_t /*value*/,
                std::int64_t /*until_ns*/) override {
    return true;
  }
  void pause_until(std::int64_t /*until_ns*/) override {}
  void call_elsewhere(const base::WorkRef& work, Length /*length*/) override { work(); }
  bool call_elsewhere_if_free(const base::WorkRef& /*work*/) override { return false; }
  void destroy_elsewhere(std::unique_ptr<Remains> remains) override {
    left_.push_back(std::move(remains));
  }
  void has_worked(int /*units*/) override {}

 private:
  std::vector<std::unique_ptr<Remains>> left_;
};

}  // namespace tests
