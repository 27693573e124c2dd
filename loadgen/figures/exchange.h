// What a client measures of one request. The figures of a run are made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/cause.h"

namespace loadgen {

// What became of one request, and when. All times are of base::now_ns().
struct Exchange {
  std::optional<Cause> failure = {};  // empty: the request succeeded
  std::int64_t started_ns = 0;        // see Client::carry_out()
  std::int64_t connected_ns = 0;      // 0 with keep-alive

  // When the first byte of the last reply was here. For get that is the reply with the file.
  std::int64_t first_byte_ns = 0;

  // When the last byte was here. If --verify or --save is given, or if the request failed, it is
  // when the thread was done with the request.
  std::int64_t ended_ns = 0;

  std::uint64_t announced_bytes = 0;  // the size of the file, as the sender announced it
  std::uint64_t moved_bytes = 0;      // the bytes of the file that came, or with put were sent

  // When the file was asked for, and when its last byte was here; of a put, when it was begun and
  // when the reply behind the file was here. 0: that did not happen, or see notes_transfers().
  std::int64_t asked_ns = 0;
  std::int64_t file_end_ns = 0;

  // Of a put: when the kernel had the last byte of the file. 0: it never had, or as above.
  std::int64_t sent_ns = 0;

  // The CPU time that the thread spent on the request. Nothing: it serves others meanwhile, or see
  // notes_transfers().
  std::optional<std::int64_t> cpu_ns = {};

  // What the system or the server said about the failure, if it said anything.
  std::string why = {};

  // Of a protocol with a connection for the file: when the log-in had ended (0 if there was none),
  // when that connection was there, and when the file had come.
  std::int64_t logged_in_ns = 0;
  std::int64_t data_connected_ns = 0;
  std::int64_t data_ended_ns = 0;

  RequestKind kind = RequestKind::kGet;  // of the request
};

}  // namespace loadgen
