#include "loadgen/figures/recorder.h"

#include <algorithm>

#include "base/clock.h"

namespace loadgen {

void Recorder::begin(std::int64_t start_ns) {
  start_ns_ = start_ns;
  if (series_) series_->begin(start_ns);
}

void Recorder::begin_open(std::int64_t start_ns) {
  begin(start_ns);
  tally_.open.emplace();
}

crowd::Tally& Recorder::begin_crowd(std::int64_t start_ns) {
  begin(start_ns);
  return tally_.crowd.emplace();
}

void Recorder::begin_second_half() {
  if (!tally_.second_half_ns) tally_.second_half_ns.emplace();
}

void Live::add(const Live& other) {
  requests += other.requests;
  errors += other.errors;
  response_ns += other.response_ns;
  under_way += other.under_way;
  outcomes.add(other.outcomes);
}

void Recorder::begin_request() {
  live_under_way_.store(live_under_way_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
}

void Recorder::end_request(const Exchange& exchange) {
  live_under_way_.store(live_under_way_.load(std::memory_order_relaxed) - 1,
                        std::memory_order_relaxed);
  ++(exchange.failure ? tally_.all_failed : tally_.all_succeeded);
  Outcomes all(live_outcomes_.load(std::memory_order_relaxed));
  all.add(Outcomes::of(exchange.failure));
  live_outcomes_.store(all.bits(), std::memory_order_relaxed);
}

void Recorder::start() {
  if (series_) series_->start(base::now_ns());
}

void Recorder::record(const Exchange& exchange) {
  const std::int64_t took_ns = exchange.ended_ns - exchange.started_ns;
  ended_at(exchange.ended_ns);
  note_in_series(exchange, took_ns);
  if (tally_.kinds) tally_.kinds->record(exchange, took_ns, false);
  if (exchange.failure) return failed(*exchange.failure, exchange.why, took_ns);
  succeeded(exchange, took_ns);
  note_answer(exchange.ended_ns, took_ns);
}

void Recorder::record(const Pause& pause) {
  if (!tally_.think) tally_.think.emplace();
  tally_.think->add(pause);
  ended_at(pause.to_ns);
}

void Recorder::record(const Exchange& exchange, const Due& due) {
  note_end(exchange, due);
  if (due.due_ns < start_ns_) return count_warmup();
  OpenTally& open = *tally_.open;
  ++open.due;
  if (due.free_ns > due.due_ns) ++open.found_no_thread;
  open.lateness_ns.add(due.begun_ns - std::max(due.due_ns, due.free_ns));

  const std::int64_t response_ns = exchange.ended_ns - due.due_ns;
  ended_at(exchange.ended_ns);
  note_in_series(exchange, response_ns);
  if (tally_.kinds)
    tally_.kinds->record(exchange, response_ns, exchange.failure == Fault::kTimeout);
  if (exchange.failure) {
    if (exchange.failure == Fault::kTimeout) gave_up(exchange.ended_ns, response_ns);
    return failed(*exchange.failure, exchange.why, response_ns);
  }
  open.service_ns.add(exchange.ended_ns - exchange.started_ns);
  succeeded(exchange, response_ns);
}

// What the server does within the window, although it was asked for before, is throughput too. With
// a backlog of the warm-up, it is all of it.
void Recorder::note_end(const Exchange& exchange, const Due& due) {
  if (exchange.ended_ns < start_ns_ || exchange.ended_ns >= due.window_end_ns) return;
  if (exchange.failure) {
    ++tally_.open->failed;
  } else {
    ++tally_.open->answered;
    if (tally_.kinds) ++tally_.kinds->of(exchange.kind).answered;
    note_answer(exchange.ended_ns, exchange.ended_ns - due.due_ns);
  }
}

void Recorder::record_unfinished(RequestKind kind, std::int64_t due_ns, std::int64_t now_ns) {
  const Exchange unfinished{.failure = Fault::kUnfinished, .kind = kind};
  if (tally_.kinds) tally_.kinds->record(unfinished, now_ns - due_ns, true);
  ++tally_.open->due;
  ++tally_.open->found_no_thread;
  if (series_) {
    series_->start(now_ns);
    series_->fail(now_ns);
  }
  gave_up(now_ns, now_ns - due_ns);
  failed(Fault::kUnfinished, {}, now_ns - due_ns);
}

void Recorder::ended_at(std::int64_t moment_ns) {
  tally_.elapsed_ns = std::max(tally_.elapsed_ns, moment_ns - start_ns_);
  tally_.active_ns = static_cast<std::uint64_t>(tally_.elapsed_ns);
}

void Recorder::took(std::int64_t response_ns) {
  tally_.response_ns.add(response_ns);
  if (tally_.second_half_ns) tally_.second_half_ns->add(response_ns);
}

void Recorder::note_in_series(const Exchange& exchange, std::int64_t response_ns) {
  if (!series_) return;
  if (exchange.failure) return series_->fail(exchange.ended_ns);
  series_->end(exchange.ended_ns, response_ns);
}

void Recorder::gave_up(std::int64_t moment_ns, std::int64_t after_ns) {
  if (series_) series_->give_up(moment_ns, after_ns);
  took(after_ns);
  ++tally_.open->given_up;
}

void Recorder::failed(Cause cause, const std::string& why, std::int64_t took_ns) {
  if (++tally_.errors[cause.index()] == 1) tally_.first_why[cause.index()] = why;
  tally_.failed_ns += static_cast<std::uint64_t>(took_ns);
  live_errors_.store(live_errors_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Recorder::succeeded(const Exchange& exchange, std::int64_t response_ns) {
  took(response_ns);
  const auto since_start = [&](std::int64_t moment_ns) {
    return moment_ns == 0 ? 0 : static_cast<std::uint64_t>(moment_ns - exchange.started_ns);
  };
  tally_.connect_ns += since_start(exchange.connected_ns);
  tally_.first_byte_ns += since_start(exchange.first_byte_ns);
  tally_.logged_in_ns += since_start(exchange.logged_in_ns);
  tally_.data_connected_ns += since_start(exchange.data_connected_ns);
  tally_.data_ended_ns += since_start(exchange.data_ended_ns);
  tally_.announced_bytes += exchange.announced_bytes;
  tally_.moved_bytes += exchange.moved_bytes;
}

void Recorder::note_answer(std::int64_t ended_ns, std::int64_t response_ns) {
  const auto second = static_cast<std::size_t>((ended_ns - start_ns_) / base::kNsPerS);
  const auto took_ns = static_cast<std::uint64_t>(response_ns);
  if (second >= tally_.seconds.size()) tally_.seconds.resize(second + 1);
  ++tally_.seconds[second].requests;
  tally_.seconds[second].response_ns += took_ns;

  live_requests_.store(live_requests_.load(std::memory_order_relaxed) + 1,
                       std::memory_order_relaxed);
  live_response_ns_.store(live_response_ns_.load(std::memory_order_relaxed) + took_ns,
                          std::memory_order_relaxed);
}

Live Recorder::live() const {
  return {live_requests_.load(std::memory_order_relaxed),
          live_errors_.load(std::memory_order_relaxed),
          live_response_ns_.load(std::memory_order_relaxed),
          live_under_way_.load(std::memory_order_relaxed),
          Outcomes(live_outcomes_.load(std::memory_order_relaxed))};
}

}  // namespace loadgen
