// A thread with one client, which has one request under way at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "loadgen/clients/channels/client.h"
#include "loadgen/clients/client.h"
#include "loadgen/clients/workload.h"
#include "loadgen/config/ramp.h"
#include "loadgen/loops/load.h"

namespace loadgen {

// What closed and open loops and bursts have in common.
class ClientLoop : public Loop {
 public:
  // `shared` must outlive it. `thread` counts from 0.
  ClientLoop(const Shared& shared, int thread)
      : Loop(shared.config),
        config_(shared.config),
        workload_(shared.config, shared.new_accounts, thread),
        client_(make_client(shared, thread, recorder_.series())),
        transfers_(shared.transfers, thread) {
    if (is_mixed(config_)) recorder_.tell_kinds_apart();
  }

  // Why a file could not be saved.
  std::optional<std::string> failure() const final { return client_->save_failure(); }

 protected:
  // Sends the requests of all phases. Waits at their gates.
  virtual void send_requests(RunControl& control) = 0;

  // See Client::carry_out() for `gate`.
  Exchange carry_out_next(RunControl& control, Gate* gate = nullptr) {
    return carry_out(workload_.next(), control, gate);
  }

  Exchange carry_out(const Request& request, RunControl& control, Gate* gate = nullptr) {
    request_ = request;
    recorder_.begin_request();
    Exchange exchange = client_->carry_out(request_, gate);
    recorder_.end_request(exchange);
    if (client_->save_failure()) control.stop(End::kFailed);
    return exchange;
  }

  // Adds the transfer of carry_out_next() to the file of --transfers, if there is one.
  void note_transfer(RunControl& control, const Exchange& exchange) {
    if (exchange.kind == RequestKind::kNew) return;  // it moves no file
    if (!transfers_.add(request_.file_name, exchange)) control.stop(End::kFailed);
  }

  const Config& config_;
  Workload workload_;
  const std::unique_ptr<ThreadClient> client_;

 private:
  // On a ramp, each thread connects when it starts.
  void prepare() final {
    if (!is_ramp(config_)) client_->prepare();
  }

  void carry_load(RunControl& control) final {
    send_requests(control);
    recorder_.count_connections(client_->connections(), client_->reconnects());
    if (const ChannelTally* const channels = client_->channels()) recorder_.set_channels(*channels);
    if (const HandshakeTally* const made = client_->handshakes()) recorder_.set_handshakes(*made);
    transfers_.flush();
  }

  static std::unique_ptr<ThreadClient> make_client(const Shared& shared, int thread,
                                                   ThreadSeries* series) {
    const Config& config = shared.config;
    if (has_channels(config))
      return std::make_unique<ChannelClient>(config, shared.ready.servers, shared.ready.sources,
                                             thread, series, shared.ready.tls.get());
    return std::make_unique<Client>(config, shared.ready.servers, shared.ready.sources, thread,
                                    series, shared.ready.tls.get());
  }

  Request request_ = {};  // the last one
  TransferLines transfers_;
};

}  // namespace loadgen
