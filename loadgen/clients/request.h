// One request of the load, whatever the protocol.
#pragma once

#include <cstdint>
#include <string_view>

#include "loadgen/config/config.h"
#include "wire/request.h"

namespace loadgen {

struct Request {
  wire::Credentials account;        // new: the account to make; otherwise who asks
  std::string_view file_name = {};  // empty for new
  std::uint64_t size_bytes = 0;     // of the file that put sends

  // The connection is logged in as this account, so that a protocol which keeps that on the
  // connection need not log in again. HTTP sends the credentials in any case.
  bool is_logged_in = false;

  RequestKind kind = RequestKind::kGet;
};

}  // namespace loadgen
