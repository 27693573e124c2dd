#include "fileserver/metrics.h"

#include <memory>

#include "fileserver/parts.h"
#include "telemetry/page.h"
#include "telemetry/process_metrics.h"
#include "telemetry/server_metrics.h"

namespace fileserver {

namespace {

using telemetry::Count;
using telemetry::Page;
using telemetry::Totals;

void write_files(Page& page, const FilesInMemory& in_memory, const Totals& totals) {
  page.family("turnstile_file_sends_total", "counter",
              "Files, or ranges of a file, that were begun to be sent, by where their bytes were.");
  page.sample("source=\"memory\"", totals.of(Count::kSendsFromMemory));
  page.sample("source=\"disk\"", totals.of(Count::kSendsFromDisk));
  page.gauge("turnstile_files_in_memory", "Files that are served from memory.", in_memory.files);
  page.gauge("turnstile_files_memory_bytes", "Memory of these files, with their bookkeeping.",
             in_memory.bytes);
  page.gauge("turnstile_files_memory_limit_bytes", "The most they may take (--memory-limit).",
             in_memory.limit_bytes);
}

void write_authserver(Page& page, const Totals& totals, bool is_up) {
  page.gauge("turnstile_authserver_up", "1 if the authserver answered a ping just now, else 0.",
             std::int64_t{is_up ? 1 : 0});
  page.family("turnstile_authserver_request_duration_seconds", "histogram",
              "Time of the requests to the authserver, failed ones too.");
  page.histogram("", totals.of(telemetry::Timed::kAuthserver));
}

}  // namespace

telemetry::Source make_telemetry_source(const Parts& parts, pid_t server) {
  const auto auth = std::make_shared<AuthClient>(parts.health_options, net::resolve,
                                                 AuthAddresses::OutageLog::kOff, AuthLane::Limits{},
                                                 parts.auth_tls.get());
  const auto process = std::make_shared<telemetry::ProcessMetrics>(server);
  const auto metrics = [&parts, &board = parts.telemetry->board(), process](bool is_healthy) {
    const Totals totals = board.totals();
    Page page;
    telemetry::write_server_metrics(page, {"fileserver", "get", true}, totals,
                                    parts.options.max_connections);
    page.counter("turnstile_transfers_aborted_total",
                 "Files that were not sent to their end, because the client or the file was gone.",
                 totals.of(Count::kTransfersAborted));
    page.counter("turnstile_logins_throttled_total",
                 "Log-ins that were refused because of too many wrong passwords.",
                 totals.of(Count::kLogInsThrottled));
    write_files(page, parts.files->in_memory(), totals);
    if (parts.tls) telemetry::write_tls_metrics(page, parts.tls->not_after_s(), totals);
    write_authserver(page, totals, is_healthy);
    process->write(page, board.owners());
    return page.text();
  };
  return {[auth] { return auth->ask(wire::Ping{}).ok(); }, metrics};
}

}  // namespace fileserver
