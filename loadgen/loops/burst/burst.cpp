#include "loadgen/loops/burst/burst.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "loadgen/loops/burst/hold.h"
#include "loadgen/loops/burst/loop.h"
#include "loadgen/loops/burst/rounds.h"

namespace loadgen::burst {

namespace {

int rounds_of(const Config& config) {
  return config.asks_once ? std::min(config.requests, config.unique) : config.requests;
}

class BurstLoad final : public Load {
 public:
  // `hold` is empty if no server is held.
  BurstLoad(const Shared& shared, std::optional<Hold> hold)
      : shared_(shared),
        hold_(std::move(hold)),
        rounds_(
            shared.config.threads, rounds_of(shared.config),
            [this] { return shared_.control.must_stop(); }, holding()) {}

  std::unique_ptr<Loop> make_loop(int thread) override {
    return std::make_unique<BurstLoop>(rounds_, shared_, thread);
  }

  base::Status finish(Figures& figures) override {
    figures.rounds = rounds_.ended();
    if (figures.end == End::kRequests && rounds_of(shared_.config) < shared_.config.requests)
      figures.end = End::kFiles;
    return held_;
  }

 private:
  Holding holding() {
    if (!hold_) return {};
    return {[this] { note_hold(hold_->freeze()); }, [this] { note_hold(hold_->thaw()); }};
  }

  // A thread of the load calls this while all others wait.
  void note_hold(const base::Status& done) {
    if (done || !held_) return;
    held_ = done;
    shared_.control.stop(End::kFailed);
  }

  const Shared& shared_;
  std::optional<Hold> hold_;
  base::Status held_ = base::kDone;  // whether the server could be held in each round
  Rounds rounds_;
};

}  // namespace

base::Result<std::unique_ptr<Load>> make_load(const Shared& shared) {
  std::optional<Hold> hold;
  if (!shared.config.hold.empty()) {
    auto opened = Hold::of_group(shared.config.hold);
    if (!opened) return opened.error();
    hold.emplace(std::move(*opened));
  }
  return std::unique_ptr<Load>(std::make_unique<BurstLoad>(shared, std::move(hold)));
}

}  // namespace loadgen::burst
