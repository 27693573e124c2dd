#include "serve/telemetry_service.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/completes.h"
#include "base/file_io.h"
#include "base/log.h"
#include "guard/call_filter.h"

namespace serve {

base::Result<std::unique_ptr<TelemetryService>> TelemetryService::open(const Options& options) {
  if (!options.telemetry_listen) return std::unique_ptr<TelemetryService>();
  auto listener = telemetry::bind_for_telemetry(*options.telemetry_listen);
  if (!listener) return listener.error();
  return std::unique_ptr<TelemetryService>(
      new TelemetryService(std::move(*listener), most_workers(options)));
}

void TelemetryService::stop() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);  // it has nothing to finish, and must leave the address free
    base::retried([this] { return ::waitpid(child_, nullptr, 0); });
    child_ = -1;
  }
  if (!thread_.joinable()) return;
  endpoint_->stop();
  thread_.join();
}

base::Status TelemetryService::start(Options& options, const MakeSource& make_source) {
  options.counters = &board_;
  is_sandboxed_ = options.sandbox != Sandbox::kOff;
  if (options.model != Model::kProcess) return serve_in_thread(make_source);
  options.other_child_ended = [this](pid_t child) { child_ended(child); };
  return serve_in_process(make_source);
}

base::Status TelemetryService::serve_in_thread(const MakeSource& make_source) {
  if (const auto listening = net::start_listening(listener_); !listening) return listening;
  net::Listener listener{std::move(listener_.fd), listener_.address};
  endpoint_ = std::make_unique<telemetry::Endpoint>(std::move(listener),
                                                    with_drain(make_source(::getpid())));
  thread_ = std::thread([this] { endpoint_->run(); });
  return base::kDone;
}

base::Status TelemetryService::serve_in_process(const MakeSource& make_source) {
  if (const auto listening = net::start_listening(listener_); !listening) return listening;
  make_source_ = make_source;
  return fork_child(0);
}

// Starts the child again, after a second.
void TelemetryService::child_ended(pid_t child) {
  if (child != child_) return;
  constexpr int kWaitMs = 1000;
  base::log::error("the process for telemetry died and is started again pid={}", child);
  if (const auto forked = fork_child(kWaitMs); !forked)
    base::log::error("there is no telemetry any more reason=\"{}\"", forked.error().context);
}

base::Status TelemetryService::fork_child(int wait_first_ms) {
  const pid_t server = ::getpid();
  child_ = ::fork();
  if (child_ == 0) live_as_child(server, wait_first_ms);
  if (child_ < 0)
    return base::errno_error(base::ErrorCode::kInternal, "fork a process for telemetry", errno);
  return base::kDone;
}

// Stop signals stay blocked, as in the parent: the child tells about the server until it ends.
void TelemetryService::live_as_child(pid_t server, int wait_first_ms) {
  telemetry::my_slot = nullptr;  // that of the parent
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent does the same once it is ready, and tells if it cannot.
  if (is_sandboxed_) static_cast<void>(guard::refuse_listening());
  if (::getppid() != server) ::_exit(0);  // the server ended before prctl()
  const bool has_ended = base::completes("telemetry cannot start", [&] {
    base::pause_ms(wait_first_ms);
    telemetry::Source source = with_drain(make_source_(server));
    telemetry::Endpoint({std::move(listener_.fd), listener_.address}, std::move(source)).run();
  });
  ::_exit(has_ended ? 0 : 1);
}

telemetry::Source TelemetryService::with_drain(telemetry::Source source) const {
  source.is_draining = [this] { return board_.is_draining(); };
  return source;
}

std::optional<net::HostPort> address_of(const TelemetryService* service) {
  return service == nullptr ? std::nullopt : std::optional(service->address());
}

}  // namespace serve
