// One thread of the load. When it sends its requests is up to the two kinds of loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/clients/client.h"
#include "loadgen/clients/workload.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/recorder.h"
#include "loadgen/figures/transfer_file.h"
#include "loadgen/run_control.h"

namespace loadgen {

// What all loops of a run share. All of it must outlive them.
struct Shared {
  const Config& config;
  const std::vector<net::SocketAddress>& servers;
  const Sources& sources;
  NewAccounts& new_accounts;
  TransferFile* transfers;  // null: transfers are not recorded
};

// Built before its thread starts, so that no preparation falls into the measured window.
class Loop {
 public:
  // `thread` counts from 0.
  Loop(const Shared& shared, int thread)
      : config_(shared.config),
        workload_(shared.config, shared.new_accounts, thread),
        client_(shared.config, shared.servers, shared.sources, thread),
        transfers_(shared.transfers, thread) {}
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The body of the thread. Returns when the run is over.
  void run(RunControl& control) noexcept {
    client_.prepare();
    control.arrivals.arrive();
    send_requests(control);
    transfers_.flush();
    control.arrivals.arrive();
    control.end_gate.wait();
  }

  // Any thread may call recorder().live(). Everything else only after the thread was joined.
  const Recorder& recorder() const { return recorder_; }

  // Why a file could not be saved, if that ended the run. Only after the thread was joined.
  const std::optional<std::string>& save_failure() const { return client_.save_failure(); }

 protected:
  // All phases of the run. Waits at their gates.
  virtual void send_requests(RunControl& control) = 0;

  // See Client::carry_out() for `gate`.
  Exchange carry_out_next(RunControl& control, Gate* gate = nullptr) {
    request_ = workload_.next();
    Exchange exchange = client_.carry_out(request_, gate);
    if (client_.save_failure()) control.stop();
    return exchange;
  }

  // Adds the transfer of carry_out_next() to the file of --transfers, if there is one.
  void note_transfer(RunControl& control, const Exchange& exchange) {
    if (!transfers_.add(request_.file_name, exchange)) control.stop();
  }

  const Config& config_;
  Workload workload_;
  Client client_;
  Recorder recorder_;

 private:
  Request request_ = {};  // the last one
  TransferLines transfers_;
};

}  // namespace loadgen
