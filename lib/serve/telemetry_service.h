// The telemetry of a server: counters for its workers, and an endpoint that tells them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/result.h"
#include "net/listen.h"
#include "serve/options.h"
#include "telemetry/board.h"
#include "telemetry/endpoint.h"

namespace serve {

// Makes what the endpoint tells about the server, whose process id is `server`, but for the drain,
// which the service adds. Called in the thread or process of the endpoint.
using MakeSource = std::function<telemetry::Source(pid_t server)>;

// Owned by main. One thread.
class TelemetryService {
 public:
  // Binds options.telemetry_listen. kInternal if it cannot. Without that option it returns null:
  // telemetry is off. Called before the server gives up rights that a port may need.
  static base::Result<std::unique_ptr<TelemetryService>> open(const Options& options);

  // Calls stop(). Should the server be killed, the child ends too.
  ~TelemetryService() { stop(); }

  // Ends the thread or the child process, if one runs. After that nothing uses the source.
  void stop();

  const net::HostPort& address() const { return listener_.address; }
  telemetry::Board& board() { return board_; }

  // Begins to answer: in a thread, or for a server of processes, whose parent has one thread, in a
  // child process, which is made again when it dies. Sets what the server needs for that in
  // `options`. Called once, before the server starts. What `make_source` refers to must outlive
  // stop(). kInternal if it cannot listen, or if there can be no child. Throws std::exception if no
  // thread can be made.
  base::Status start(Options& options, const MakeSource& make_source);

 private:
  TelemetryService(net::Listener listener, std::size_t workers)
      : listener_(std::move(listener)), board_(workers) {}

  base::Status serve_in_thread(const MakeSource& make_source);
  base::Status serve_in_process(const MakeSource& make_source);
  void child_ended(pid_t child);
  base::Status fork_child(int wait_first_ms);
  [[noreturn]] void live_as_child(pid_t server, int wait_first_ms);
  telemetry::Source with_drain(telemetry::Source source) const;

  net::Listener listener_;  // moved into the endpoint; in a child, only the child's copy
  telemetry::Board board_;

  std::unique_ptr<telemetry::Endpoint> endpoint_;
  std::thread thread_;

  bool is_sandboxed_ = false;
  MakeSource make_source_;  // of the child
  pid_t child_ = -1;
};

// Stops the service when it is destroyed. Made where the service is started, it does so before that
// is destroyed what the source reads.
class StopsTelemetry {
 public:
  // `service` may be null.
  explicit StopsTelemetry(TelemetryService* service) : service_(service) {}
  ~StopsTelemetry() {
    if (service_ != nullptr) service_->stop();
  }
  StopsTelemetry(const StopsTelemetry&) = delete;
  StopsTelemetry& operator=(const StopsTelemetry&) = delete;

 private:
  TelemetryService* const service_;
};

// Where it answers. Nothing for null.
std::optional<net::HostPort> address_of(const TelemetryService* service);

}  // namespace serve
