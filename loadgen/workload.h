// What one thread asks for, one request after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loadgen/config.h"

namespace loadgen {

// The number of the file that thread `thread` asks for with its request `request`; both count from
// 0. Thread t owns the numbers t*count+1 to (t+1)*count. It asks for them in order and then starts
// over, so no two threads ever ask for the same file.
std::int64_t file_number(int thread, int count, std::int64_t request);

// Stands for the number in the file name that the user gives.
inline constexpr std::string_view kNumberMark = "%d";

bool has_number(std::string_view pattern);

// `pattern` with every mark replaced by `number`.
std::string file_name(std::string_view pattern, std::int64_t number);

// The lines of one request, with their line endings, as they are sent.
struct Request {
  std::string_view opening;    // new:... or get:...
  std::string_view file_line;  // empty for new
  std::string_view both;       // opening and file_line in one piece, for --pipeline
  std::string_view file_name;  // file_line without its line ending
};

// 24 random hexadecimal digits. They name a run, so that its accounts differ from those of every
// other run.
std::string random_word();

// One thread.
class Workload {
 public:
  // `config` must outlive it. `run_name` becomes part of the names of new accounts, so it must
  // differ from that of every other run.
  Workload(const Config& config, std::string_view run_name, int thread);

  // The result points into this object and is valid until the next call.
  Request next();

  // Whether --once was given and this thread has asked for each of its files. Requests of the
  // warm-up count.
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
