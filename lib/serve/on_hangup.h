// Does something at each SIGHUP.
#pragma once

#include <functional>
#include <thread>

#include "net/fd.h"

namespace serve {

// Calls a function in a thread of its own for each SIGHUP. Of those that come while it runs, it is
// called once more.
class OnHangup {
 public:
  // `hangups` is from base::open_hangup_signal(). What `act` uses must outlive this object.
  OnHangup(net::Fd hangups, std::function<void()> act);

  // Waits until the function has returned, if it runs.
  ~OnHangup();

 private:
  void run() const;

  const net::Fd hangups_;
  const std::function<void()> act_;
  const net::Fd stop_;  // an eventfd
  std::thread thread_;
};

}  // namespace serve
