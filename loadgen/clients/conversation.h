// One request of a user, but for the bytes of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/clients/drivers/driver.h"

namespace loadgen::crowd {

// What became of a request so far.
struct Answer {
  enum class Kind {
    kWaits,   // more bytes have to come
    kData,    // the file comes on a connection to `data_port`, which has to be made first
    kFile,    // the file begins: `size_bytes` and `early_bytes` count
    kDone,    // the file has come whole, on the connection to `data_port`
    kFailed,  // `failure` and `why` count
  };
  Kind kind;
  std::uint64_t size_bytes = 0;
  std::uint16_t data_port = 0;
  std::uint64_t early_bytes = 0;  // of the file, that came together with its reply
  bool keeps_connection = false;  // it can take the next request after the file
  std::optional<Cause> failure = {};
  std::string why = {};
};

// Speaks the protocol of a driver on a socket that never blocks. A user needs one only while it
// waits for a reply, so a few of them serve a crowd. But if the file has a connection of its own,
// the user keeps it until kDone.
//
// One thread.
class Conversation {
 public:
  explicit Conversation(const Config& config) : driver_(make_driver(config)) {}

  // Begins a request of the user with this number; both numbers count from 0.
  void begin(const Config& config, int user, std::int64_t fetch, bool is_logged_in);

  // Sends and receives as much as it can without waiting.
  Answer go_on(int fd);

  // When the last line of the request was sent, by base::now_ns(): the name of the file.
  std::int64_t asked_ns() const { return asked_ns_; }

 private:
  // Nothing: some bytes came.
  std::optional<Answer> receive(int fd);
  Answer file(std::uint64_t size_bytes);

  const std::unique_ptr<Driver> driver_;
  Request request_;  // of the next three
  std::string user_;
  std::string password_;
  std::string file_name_;
  std::string received_;
  std::int64_t asked_ns_ = 0;
};

// The conversations that no user needs at the moment. One thread.
class Conversations {
 public:
  explicit Conversations(const Config& config) : config_(config) {}

  std::unique_ptr<Conversation> take();
  void give_back(std::unique_ptr<Conversation> conversation);

 private:
  const Config& config_;
  std::vector<std::unique_ptr<Conversation>> free_;
};

}  // namespace loadgen::crowd
