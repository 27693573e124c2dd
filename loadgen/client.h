// One client: its connection, and one request at a time on it.
#pragma once

#include <cstdint>
#include <optional>

#include "loadgen/config.h"
#include "loadgen/download.h"
#include "loadgen/reference.h"
#include "loadgen/reply_stream.h"
#include "loadgen/sources.h"
#include "loadgen/workload.h"
#include "net/address.h"
#include "net/fd.h"

namespace loadgen {

// What became of one request, and when. All moments are of base::now_ns().
struct Exchange {
  std::optional<Cause> failure;    // nothing: it counts
  std::int64_t started_ns = 0;     // see Client::carry_out()
  std::int64_t connected_ns = 0;   // 0 with keep-alive
  std::int64_t first_byte_ns = 0;  // of the last reply: the file's with get
  std::int64_t ended_ns = 0;  // its last byte, what --verify and --save do with it, or the failure
  std::uint64_t announced_bytes = 0;  // the file's size, as the reply said
  std::uint64_t received_bytes = 0;   // of the file
};

// One thread.
class Client {
 public:
  // Both must outlive it.
  Client(const Config& config, const net::SocketAddress& server, const Sources& sources,
         int thread);

  // With keep-alive: connects, so that the first request need not. That it fails is told by the
  // first request.
  void prepare();

  // Returns when the request is over, one way or the other. Its time begins here; with keep-alive,
  // when the connection is there.
  Exchange carry_out(const Request& request);

  // Why a file could not be saved: then no more requests are wanted.
  const std::optional<std::string>& save_failure() const { return download_.failure(); }

  // Closes the connection.
  void hang_up();

 private:
  std::optional<Cause> connect();
  std::optional<Cause> begin(Exchange& exchange);
  std::optional<Cause> converse(const Request& request, Exchange& exchange);
  std::optional<Cause> make_account(Exchange& exchange);
  std::optional<Cause> get_file(const Request& request, Exchange& exchange);
  std::optional<Cause> take_file(const Request& request, Exchange& exchange);
  std::optional<Cause> read_second_refusal(Cause first);
  std::optional<Cause> send(std::string_view lines);

  const Config& config_;
  const net::SocketAddress server_;
  const Sources& sources_;
  const int thread_;
  const bool is_kept_;

  ReplyStream replies_;
  Reference reference_;
  Download download_;
  net::Fd fd_;
  std::int64_t connections_ = 0;
  bool is_under_way_ = false;
};

}  // namespace loadgen
