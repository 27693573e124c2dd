// What the user decides about a run: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/address.h"

namespace loadgen {

enum class RequestKind { kNew, kGet };
enum class Connection { kPerRequest, kKeepAlive };

struct Config {
  RequestKind request = RequestKind::kGet;
  net::HostPort server{"127.0.0.1", 9000};
  int threads = 1;

  std::int64_t seconds_ms = 10'000;
  int requests = 0;  // for each thread, and then seconds_ms does not count; 0: the run ends by time
  std::int64_t warmup_ms = 0;

  Connection connection = Connection::kPerRequest;
  bool is_pipelined = false;
  std::int64_t timeout_ms = 30'000;

  // For get.
  std::string user;
  std::string password;
  std::string file;  // with %d when unique is not 0
  int unique = 0;
  bool asks_once = false;  // the run ends when a thread has asked for all its files
  bool must_verify = false;
  std::string verify_root;
  std::string save;  // the folder where received files are kept; empty: nowhere

  std::string json;  // empty: none; "-": standard output
};

const char* word_of(RequestKind request);
const char* word_of(Connection connection);

// From the command line, the environment and the --config file. Nothing when the program shall end
// at once, with `exit_status`.
std::optional<Config> read_config(int argc, char** argv, int& exit_status);

}  // namespace loadgen
