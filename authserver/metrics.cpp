#include "authserver/metrics.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "telemetry/page.h"
#include "telemetry/process_metrics.h"
#include "telemetry/server_metrics.h"

namespace authserver {

namespace {

using telemetry::Count;
using telemetry::Page;
using telemetry::Timed;
using telemetry::Totals;

// Pings the store, on a connection that it keeps unless --store-connection says otherwise. One
// thread.
class StoreProbe {
 public:
  explicit StoreProbe(const StoreConfig& config) : config_(config) {
    limits_.timeout_ms = std::min(limits_.timeout_ms, telemetry::kHealthMs);
  }

  bool answers() {
    if (store_ == nullptr) {
      auto opened = config_.backend->open(limits_);
      if (!opened) return false;
      store_ = std::move(*opened);
    }
    const bool is_up = store_->ping().ok();
    if (config_.connection == StoreConnection::kPerRequest) store_.reset();
    return is_up;
  }

 private:
  const StoreConfig& config_;
  StoreLimits limits_ = config_.limits;
  std::unique_ptr<AccountStore> store_;
};

void write_store(Page& page, const Totals& totals, bool is_up) {
  page.gauge("turnstile_store_up", "1 if the store answered just now, else 0.",
             std::int64_t{is_up ? 1 : 0});
  page.family("turnstile_store_operation_duration_seconds", "histogram",
              "Time of the operations of the store, failed ones too.");
  page.histogram("operation=\"create\"", totals.of(Timed::kStoreCreate));
  page.histogram("operation=\"find\"", totals.of(Timed::kStoreFind));
  page.histogram("operation=\"ping\"", totals.of(Timed::kStorePing));
}

void write_passwords(Page& page, const Totals& totals, const HashLanes& lanes) {
  page.counter("turnstile_password_memo_hits_total",
               "Passwords that were verified before and needed no hash.",
               totals.of(Count::kMemoHits));
  page.counter("turnstile_password_memo_misses_total", "Passwords that the memo did not know.",
               totals.of(Count::kMemoMisses));
  page.gauge("turnstile_password_hashes_under_way", "Password hashes that are computed now.",
             std::uint64_t{lanes.computing()});
  page.gauge("turnstile_password_hashes_waiting", "Requests that wait to compute a hash.",
             std::uint64_t{lanes.waiting()});
}

}  // namespace

telemetry::Source make_telemetry_source(const Config& config, const telemetry::Board& board,
                                        const HashLanes& lanes, tls::ServerContext* tls,
                                        pid_t server) {
  const auto store = std::make_shared<StoreProbe>(config.store);
  const auto process = std::make_shared<telemetry::ProcessMetrics>(server);
  const auto metrics = [&config, &board, &lanes, tls, process](bool is_healthy) {
    const Totals totals = board.totals();
    Page page;
    telemetry::write_server_metrics(page, {"authserver", "auth", false}, totals,
                                    config.serve.max_connections);
    write_store(page, totals, is_healthy);
    write_passwords(page, totals, lanes);
    if (tls != nullptr) telemetry::write_tls_metrics(page, tls->not_after_s(), totals);
    process->write(page, board.owners());
    return page.text();
  };
  return {[store] { return store->answers(); }, metrics};
}

}  // namespace authserver
