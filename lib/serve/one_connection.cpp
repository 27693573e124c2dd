#include "serve/one_connection.h"

#include "base/completes.h"
#include "base/log.h"
#include "telemetry/counters.h"

namespace serve {

void serve_one_connection(Worker& worker, Stream& stream, Totals& totals) {
  telemetry::add(telemetry::Count::kConnectionsAccepted);
  const telemetry::Raised open(telemetry::Level::kConnectionsOpen);
  if (!base::completes("a connection failed", [&] { worker.serve(stream); })) stream.abort();
  totals.connections.fetch_add(1, std::memory_order_relaxed);
  totals.requests.fetch_add(stream.requests(), std::memory_order_relaxed);
}

void log_totals(std::string_view event, const Totals& totals) {
  base::log::info("{} connections={} requests={}", event, totals.connections.load(),
                  totals.requests.load());
}

}  // namespace serve
