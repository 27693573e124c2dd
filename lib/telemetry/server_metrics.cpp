#include "telemetry/server_metrics.h"

#include <fmt/core.h>

#include "version.h"

namespace telemetry {

namespace {

std::string_view word_of(Verb verb, const Naming& naming) {
  switch (verb) {
    case Verb::kNew: return "new";
    case Verb::kLogIn: return naming.log_in;
    case Verb::kFile: return "file";
    case Verb::kPut: return "put";
    case Verb::kChange: return "change";
    case Verb::kPing: return "ping";
    case Verb::kOther: return "other";
  }
  return {};
}

bool is_of_files(Verb verb) {
  return verb == Verb::kFile || verb == Verb::kPut || verb == Verb::kChange;
}

template <typename Visit>
void for_each_verb(const Naming& naming, Visit visit) {
  for (std::size_t i = 0; i < kVerbs; ++i) {
    const auto verb = static_cast<Verb>(i);
    if (!is_of_files(verb) || naming.has_files) visit(verb);
  }
}

void write_requests(Page& page, const Naming& naming, const Totals& totals) {
  page.family("turnstile_requests_total", "counter",
              "Requests by verb and result. The verb other is a line that is no request.");
  for_each_verb(naming, [&](Verb verb) {
    const auto one = [&](std::string_view result, std::uint64_t count) {
      page.sample(fmt::format("verb=\"{}\",result=\"{}\"", word_of(verb, naming), result), count);
    };
    one("OK", totals.of(verb, {}));
    for (const base::ErrorCode code : wire::kErrorCodes)
      one(wire::word_of(code), totals.of(verb, code));
    if (naming.has_files) one("cut", totals.of(verb, {}, Ending::kCut));
  });
}

void write_times(Page& page, const Naming& naming, const Totals& totals) {
  page.family("turnstile_request_duration_seconds", "histogram",
              "Time from a request's last byte to its reply, by verb.");
  for_each_verb(naming, [&](Verb verb) {
    if (verb == Verb::kOther) return;
    page.histogram(fmt::format("verb=\"{}\"", word_of(verb, naming)),
                   totals.of(static_cast<Timed>(verb)));
  });
}

void write_connections(Page& page, const Totals& totals, int most_connections) {
  page.gauge("turnstile_connections_open", "Connections that are served now.",
             totals.of(Level::kConnectionsOpen));
  page.gauge("turnstile_connections_limit", "How many may be open at once (--max-connections).",
             std::int64_t{most_connections});
  page.counter("turnstile_connections_accepted_total", "Connections that were served.",
               totals.of(Count::kConnectionsAccepted));
  page.counter("turnstile_connections_refused_total",
               "Connections over the limit, which were answered busy.",
               totals.of(Count::kConnectionsRefused));
}

}  // namespace

void write_server_metrics(Page& page, const Naming& naming, const Totals& totals,
                          int most_connections) {
  page.family("turnstile_build_info", "gauge", "The program and its version; always 1.");
  page.sample(fmt::format("program=\"{}\",version=\"{}\"", naming.program, TURNSTILE_VERSION),
              std::int64_t{1});
  write_requests(page, naming, totals);
  write_times(page, naming, totals);
  write_connections(page, totals, most_connections);
  page.counter("turnstile_sent_bytes_total", "Bytes of all replies that were sent.",
               totals.of(Count::kSentBytes));
  page.counter("turnstile_received_bytes_total", "Bytes of all requests and uploads that came.",
               totals.of(Count::kReceivedBytes));
}

void write_tls_metrics(Page& page, std::int64_t not_after_s, const Totals& totals) {
  page.gauge("turnstile_tls_certificate_not_after_seconds",
             "When the certificate ends, in seconds since 1970.", not_after_s);
  page.family(
      "turnstile_tls_handshakes_total", "counter",
      "Handshakes of TLS by result: made, plain (HTTP without TLS), failed, late, gone (the "
      "client left), refused (too many were under way).");
  page.sample("result=\"made\"", totals.of(Count::kHandshakesMade));
  page.sample("result=\"plain\"", totals.of(Count::kHandshakesPlain));
  page.sample("result=\"failed\"", totals.of(Count::kHandshakesFailed));
  page.sample("result=\"late\"", totals.of(Count::kHandshakesLate));
  page.sample("result=\"gone\"", totals.of(Count::kHandshakesGone));
  page.sample("result=\"refused\"", totals.of(Count::kHandshakesRefused));
}

}  // namespace telemetry
