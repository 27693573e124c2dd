// Adds up what one thread measures.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "loadgen/figures/cause.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/tally.h"
#include "loadgen/figures/think.h"
#include "loadgen/figures/thread_series.h"

namespace loadgen {

// What has become of the requests of a run so far, as a set. Of all requests that have ended, those
// of a warm-up and a cool-down included: whether one succeeded, and the causes for which others
// failed.
class Outcomes {
 public:
  Outcomes() = default;
  explicit Outcomes(std::uint64_t bits) : bits_(bits) {}

  // What became of one request: why it failed, or that it succeeded.
  static Outcomes of(const std::optional<Cause>& failure) {
    return Outcomes(std::uint64_t{1} << (failure ? failure->index() : Cause::kCount));
  }

  void add(Outcomes other) { bits_ |= other.bits_; }
  std::uint64_t bits() const { return bits_; }

  // The cause for which everything failed, if it is one that does not go away by itself: nobody
  // listens, the account or its password is wrong, or there is no such file.
  std::optional<Cause> hopeless() const {
    for (const Cause cause : {Cause(Fault::kConnect), Cause(base::ErrorCode::kDenied),
                              Cause(base::ErrorCode::kNotFound)}) {
      if (bits_ == of(cause).bits_) return cause;
    }
    return {};
  }

 private:
  std::uint64_t bits_ = 0;  // by Cause::index(); the next one is success
};

static_assert(Cause::kCount < 64);

// The part of a Tally that can be read while the run goes on.
struct Live {
  std::uint64_t requests = 0;  // that succeeded
  std::uint64_t errors = 0;
  std::uint64_t response_ns = 0;  // the sum of all response times
  std::uint64_t under_way = 0;    // requests that have begun and not ended, also uncounted ones
  Outcomes outcomes = {};

  void add(const Live& other);
};

// When a request of an open loop could have been sent.
struct Due {
  std::int64_t due_ns = 0;
  std::int64_t free_ns = 0;   // when the thread was done with the request before
  std::int64_t begun_ns = 0;  // when the thread began with this one

  // When the window ends, which an answer must be before to be throughput.
  std::int64_t window_end_ns = INT64_MAX;
};

// Adds the requests of one thread to a Tally. Only that thread writes, so recording needs no lock;
// the alignment keeps two Recorders off the same cache line.
class alignas(64) Recorder {
 public:
  // `has_series`: counts by seconds too, for --series.
  explicit Recorder(bool has_series = false)
      : series_(has_series ? std::make_unique<ThreadSeries>() : nullptr) {}

  // Begins the measured window. Requires: no request was recorded yet.
  void begin(std::int64_t start_ns);

  // Begins the measured window of an open loop.
  void begin_open(std::int64_t start_ns);

  // Begins the run of a crowd. Returns what only a crowd counts, for the thread to count in.
  crowd::Tally& begin_crowd(std::int64_t start_ns);

  // What is recorded from now on belongs to the second half of the run: of the window, or where a
  // run ends after a number of requests, of those of each thread. May be called again.
  void begin_second_half();

  // A request begins; one has ended. Of every request of a client, also of those that do not count.
  void begin_request();
  void end_request(const Exchange& exchange);

  // Begins a ramp, after begin(). Returns what only a ramp counts, for the thread to count in.
  PlateauTally& begin_ramp() { return tally_.plateau.emplace(); }

  // A request of the measured window begins now, which will be recorded.
  void start();

  // From now on, what is recorded counts for its kind too. Requires: no request was recorded yet.
  void tell_kinds_apart() { tally_.kinds.emplace(); }

  // Adds a request of the measured window. Requires: start() was called for it.
  void record(const Exchange& exchange);

  // Adds a pause of the measured window, which begins when the request before has ended. If it was
  // cut, the thread was busy with it until then.
  void record(const Pause& pause);

  // Adds a request of an open loop. One that was due before the window is a request of the warm-up;
  // but if it ended within the window, that is something which the server did in the window.
  // Requires: begin_open() was called.
  void record(const Exchange& exchange, const Due& due);

  // Adds a request that was due, but that no thread will send. Requires: as above.
  void record_unfinished(RequestKind kind, std::int64_t due_ns, std::int64_t now_ns);

  // Count a request of the warm-up, of the cool-down. Not in an open loop.
  void count_warmup() { ++tally_.warmup_requests; }
  void count_cooldown() { ++tally_.cooldown_requests; }

  // Counts connections that were made, at any time of the run, and those of them that were made
  // because a kept one had ended.
  void count_connections(std::uint64_t made, std::uint64_t again = 0) {
    tally_.connections += made;
    tally_.reconnects += again;
  }

  // What the channels of the thread have done, in the whole run.
  void set_channels(const ChannelTally& channels) { tally_.channels = channels; }

  // The same of its handshakes.
  void set_handshakes(const HandshakeTally& handshakes) { tally_.handshakes = handshakes; }

  // Instead of the time from the start of the window to the thread's last request: the sum of those
  // of the users that share it.
  void set_active(std::int64_t ns) { tally_.active_ns = static_cast<std::uint64_t>(ns); }

  // Bytes of a file have come just now.
  void count_moved(std::uint64_t bytes) {
    if (series_) series_->move(bytes);
  }

  // For who counts moved bytes itself. Null if there is none.
  ThreadSeries* series() const { return series_.get(); }

  // Requires: the thread was joined.
  const Tally& tally() const { return tally_; }

  // Any thread. The figures may be of slightly different moments.
  Live live() const;

 private:
  void ended_at(std::int64_t moment_ns);
  void gave_up(std::int64_t moment_ns, std::int64_t after_ns);
  void note_in_series(const Exchange& exchange, std::int64_t response_ns);
  void took(std::int64_t response_ns);
  void failed(Cause cause, const std::string& why, std::int64_t took_ns);
  void succeeded(const Exchange& exchange, std::int64_t response_ns);
  void note_end(const Exchange& exchange, const Due& due);
  void note_answer(std::int64_t ended_ns, std::int64_t response_ns);

  std::int64_t start_ns_ = 0;
  Tally tally_;
  const std::unique_ptr<ThreadSeries> series_;

  // Copies of figures in tally_, for live(). They are for display only and no other data depends on
  // them, so relaxed memory order is enough.
  std::atomic<std::uint64_t> live_requests_ = 0;
  std::atomic<std::uint64_t> live_errors_ = 0;
  std::atomic<std::uint64_t> live_response_ns_ = 0;
  std::atomic<std::uint64_t> live_under_way_ = 0;
  std::atomic<std::uint64_t> live_outcomes_ = 0;  // Outcomes::bits()
};

}  // namespace loadgen
