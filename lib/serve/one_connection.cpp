#include "serve/one_connection.h"

#include "base/completes.h"
#include "base/log.h"
#include "telemetry/counters.h"

namespace serve {

CountedConnection::CountedConnection(const Stream& stream, Totals& totals)
    : stream_(stream), totals_(totals), open_(telemetry::Level::kConnectionsOpen) {
  telemetry::add(telemetry::Count::kConnectionsAccepted);
}

CountedConnection::~CountedConnection() {
  totals_.connections.fetch_add(1, std::memory_order_relaxed);
  totals_.requests.fetch_add(stream_.requests(), std::memory_order_relaxed);
}

void serve_for_now(Worker& worker, Stream& stream) {
  if (!base::completes("a connection failed", [&] { worker.serve(stream); })) stream.abort();
}

void serve_one_connection(Worker& worker, Stream& stream, Totals& totals) {
  const CountedConnection counted(stream, totals);
  serve_for_now(worker, stream);
}

void log_totals(std::string_view event, const Totals& totals) {
  base::log::info("{} connections={} requests={}", event, totals.connections.load(),
                  totals.requests.load());
}

}  // namespace serve
