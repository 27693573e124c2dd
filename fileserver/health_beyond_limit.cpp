#include "fileserver/health_beyond_limit.h"

#include <utility>

#include "base/completes.h"
#include "serve/http_conversation.h"

namespace fileserver {

HealthBeyondLimit::HealthBeyondLimit(std::function<bool()> is_healthy)
    : is_healthy_(std::move(is_healthy)) {}

HealthBeyondLimit::~HealthBeyondLimit() {
  const base::Lock lock(mutex_);
  if (endpoint_ != nullptr) endpoint_->stop();
  if (thread_.joinable()) thread_.join();
}

bool HealthBeyondLimit::take(serve::Arrival& arrival) {
  const bool is_of_host = arrival.peer.is_loopback() || arrival.peer == net::IpAddress();
  if (!is_of_host) return false;
  const base::Lock lock(mutex_);
  return has_started() && endpoint_->take(arrival.fd);
}

bool HealthBeyondLimit::has_started() {
  if (thread_.joinable()) return true;
  std::unique_ptr<telemetry::Endpoint> endpoint;
  std::thread thread;
  const bool is_made = base::completes("cannot tell the health beyond the limit", [&] {
    endpoint = std::make_unique<telemetry::Endpoint>(
        net::Listener{}, telemetry::Source{.is_healthy = is_healthy_,
                                           .metrics = {},
                                           .health_path = "/-/health",
                                           .life_path = "/-/live",
                                           .metrics_path = {},
                                           .answer_others = &serve::busy_answer,
                                           .read_ms = 1'000});
    thread = std::thread([&one = *endpoint] { one.run(); });
  });
  if (!is_made) return false;
  endpoint_ = std::move(endpoint);
  thread_ = std::move(thread);
  return true;
}

}  // namespace fileserver
