// The protocol of docs/protocol.md.
#pragma once

#include <string>

#include "loadgen/clients/drivers/driver.h"

namespace loadgen {

// With `is_pipelined` the file name is sent together with `get:`, without waiting for its OK.
class NativeDriver : public Driver {
 public:
  explicit NativeDriver(bool is_pipelined) : is_pipelined_(is_pipelined) {}

  void begin(const Request& request) override;
  Step next(std::string_view received) override;

 private:
  enum class State {
    kBegun,    // nothing was sent
    kOpened,   // the reply to `new:` or `get:` comes next
    kNamed,    // the reply to the file name comes next
    kRefused,  // that reply comes next, but `get:` was refused
    kFetched,  // the file was received
  };

  Step take(std::string_view line);
  Step refuse(base::ErrorCode code);

  const bool is_pipelined_;
  RequestKind kind_ = RequestKind::kGet;  // of the request
  State state_ = State::kBegun;
  State after_opening_ = State::kOpened;
  base::ErrorCode refusal_{};  // of `get:`, in the state kRefused

  // new:... or get:..., and with `is_pipelined` the file name; only that if it is logged in.
  std::string opening_;
  std::string file_line_;  // empty with `is_pipelined`
};

}  // namespace loadgen
