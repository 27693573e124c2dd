#include "serve/on_hangup.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file_io.h"
#include "base/hangup_signal.h"

namespace serve {

namespace {

net::Fd open_event() {
  net::Fd fd(::eventfd(0, EFD_CLOEXEC));
  if (!fd.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

}  // namespace

OnHangup::OnHangup(net::Fd hangups, std::function<void()> act)
    : hangups_(std::move(hangups)),
      act_(std::move(act)),
      stop_(open_event()),
      thread_([this] { run(); }) {}

OnHangup::~OnHangup() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void OnHangup::run() const {
  pollfd events[] = {{stop_.get(), POLLIN, 0}, {hangups_.get(), POLLIN, 0}};
  for (;;) {
    base::retried([&] { return ::poll(events, 2, -1); });
    if (events[0].revents != 0) return;
    if (base::take_hangup_signal(hangups_.get())) act_();
  }
}

}  // namespace serve
