// What a run of one kind consists of: closed loop, open loop, burst, crowd.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "loadgen/clients/workload.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/progress.h"
#include "loadgen/figures/series_file.h"
#include "loadgen/figures/transfer_file.h"
#include "loadgen/loops/loop.h"
#include "loadgen/preflight.h"
#include "loadgen/run_control.h"

namespace loadgen {

// What all parts of a run share. All of it must outlive them.
struct Shared {
  const Config& config;
  const Ready& ready;
  RunControl& control;
  NewAccounts& new_accounts;
  TransferFile* transfers;  // null: transfers are not recorded
  SeriesFile* series;       // null: there is none
};

// The main thread's side of one kind of run: it makes the loops, and knows what they have in
// common. All that the kinds share is in run().
//
// Threads: the main thread.
class Load {
 public:
  Load() = default;
  virtual ~Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // The loop of thread `thread`, counted from 0, which this object must outlive. All are made
  // before one of them runs.
  virtual std::unique_ptr<Loop> make_loop(int thread) = 0;

  // How often must_end() has to be asked; 0: at least once a second.
  virtual int look_every_ms() const { return 0; }

  // Asked while the window is open, and once when it ends for another reason. Returns why it must
  // end now, or nothing if it goes on.
  virtual std::optional<End> must_end(std::int64_t /*now_ns*/) { return {}; }

  // Shows the last second; `so_far` is what all loops have done in the window.
  virtual void show(Progress& progress, int second, const Live& so_far) const {
    progress.show(second, so_far);
  }

  // Adds what only this kind of run measures, and corrects Figures::end if need be. Fails if the
  // run has no result. Called once, after the threads were joined and their tallies were added up.
  virtual base::Status finish(Figures& /*figures*/) { return base::kDone; }
};

// The load that the user has chosen. Fails with what the host refuses.
base::Result<std::unique_ptr<Load>> make_load(const Shared& shared);

}  // namespace loadgen
