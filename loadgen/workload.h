// What one thread asks for, one request after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loadgen/config.h"

namespace loadgen {

// Lines as they go over the wire, line endings included.
struct Request {
  std::string_view opening;    // new:... or get:...
  std::string_view file_line;  // empty for new
  std::string_view both;       // the two, one behind the other
  std::string_view file_name;  // what file_line asks for
};

// 24 hexadecimal digits that nobody has had before: what makes the names of a run's accounts
// unique.
std::string random_word();

// One thread.
class Workload {
 public:
  // `config` must outlive it. `run_name`: no other run has it.
  Workload(const Config& config, std::string_view run_name, int thread);

  // Valid until the next call.
  Request next();

  // Whether every file of this thread has been asked for, warm-up included, where none shall be
  // twice.
  bool is_used_up() const { return config_.asks_once && requests_ >= config_.unique; }

 private:
  void compose();

  const Config& config_;
  const int thread_;
  const std::string run_name_;
  const std::string new_password_;
  std::int64_t requests_ = 0;
  std::string opening_;
  std::string file_name_;
  std::string lines_;
};

}  // namespace loadgen
