// The users of one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/clients/conversation.h"
#include "loadgen/clients/engines/engine.h"
#include "loadgen/config/share.h"
#include "loadgen/figures/crowd.h"
#include "loadgen/loops/crowd/lateness.h"
#include "loadgen/loops/crowd/pace.h"
#include "loadgen/loops/crowd/wheel.h"
#include "loadgen/loops/load.h"
#include "net/fd.h"

namespace loadgen::crowd {

// What the main thread sees of a thread that runs. No other data depends on these counters.
struct LiveCounts {
  std::atomic<int> started = 0;
  std::atomic<int> dropped = 0;
  std::atomic<int> fetched = 0;          // users that have ended a fetch, and have not dropped out
  std::atomic<std::uint64_t> bytes = 0;  // of files, that were read

  // The thread may go on meanwhile, so the parts may be of different moments.
  Standing standing() const;
};

// One user at a time is dealt with: when its timer is due, or when bytes for it have arrived. A
// user waits for one of both, or for both if it has a time limit.
//
// Any thread may call live().
class CrowdLoop final : public Loop {
 public:
  // `shared` must outlive it.
  CrowdLoop(const Shared& shared, Share share);

  const LiveCounts& live() const { return live_; }

  // What the system refused to the engine.
  std::optional<std::string> failure() const override { return failure_; }

 private:
  enum class Phase : std::uint8_t {
    kBeforeStart,
    kConnecting,
    kAsking,
    kConnectingData,  // to where the file comes from, if it has a connection of its own
    kReading,
    kEnding,  // the file has come, and the last reply has not
    kGone,
  };

  struct User {
    std::unique_ptr<Conversation> conversation;  // only while it asks; with data_fd until the end
    std::int64_t asked_ns = 0;                   // when it sent the name
    std::int64_t limit_ns = 0;                   // when the user was too slow, or it is a time-out
    std::int64_t spared_ns = 0;  // what the limit was moved by in this fetch: loadgen was late
    std::uint64_t size_bytes = 0;
    std::uint64_t got_bytes = 0;
    std::uint32_t fetches = 0;
    std::uint32_t source_turn = 0;  // which source address its connections have
    float worst_error = 0;
    net::Fd fd;
    net::Fd data_fd;  // of the file, if it has a connection of its own
    Phase phase = Phase::kBeforeStart;
    bool keeps_connection = false;
    bool is_logged_in = false;

    const net::Fd& file_fd() const { return data_fd.is_open() ? data_fd : fd; }
  };

  void prepare() override;
  void carry_load(RunControl& control) override;
  void serve();
  void deal_with_due();
  void deal_with_arrived();
  void deal_with(std::uint32_t user);
  bool has_come(const User& one) const;
  void look_back_to(std::int64_t moment_ns);
  bool is_late_with(const User& one) const;
  void spare(User& one) const;
  std::int64_t aftermath_ns(const User& one) const;
  void run_out_of_time(std::uint32_t user);
  void connect(std::uint32_t user);
  void finish_connecting(std::uint32_t user);
  void begin_to_ask(std::uint32_t user);
  void ask(std::uint32_t user);
  void go_on_asking(std::uint32_t user);
  void connect_for_data(std::uint32_t user, std::uint16_t port);
  void begin_to_read(std::uint32_t user, const Answer& answer);
  void read(std::uint32_t user);
  void took(User& one, std::uint64_t bytes);
  void finish_file(std::uint32_t user);
  void wait_for_last_reply(std::uint32_t user);
  void finish_fetch(std::uint32_t user);
  void drop(std::uint32_t user, Cause cause, const std::string& why = {});
  void leave(User& one, std::uint32_t user);
  void close_data(User& one, std::uint32_t user);
  void wait_for_bytes(std::uint32_t user, short events);
  void wait_until(std::uint32_t user, std::int64_t moment_ns);
  void wait_until_due(std::uint32_t user, std::int64_t bytes_due_ns);
  void sample_waiting_bytes();
  void note(const base::Status& status);
  const net::SocketAddress& server_of(std::uint32_t user) const;
  base::Result<net::Fd> begin_to_connect(std::uint32_t user, const net::SocketAddress& to) const;

  // The number by which the engine knows the user's connection for the file.
  std::uint32_t data_number(std::uint32_t user) const {
    return user + static_cast<std::uint32_t>(users_.size());
  }
  std::int64_t tick_at(std::int64_t moment_ns) const;
  std::int64_t moment_of(std::int64_t tick) const;

  const Shared& shared_;
  const Config& config_;
  const Share share_;
  const Pace pace_;
  std::int64_t start_ns_ = 0;

  std::vector<User> users_;
  Wheel wheel_;
  Conversations conversations_;
  std::unique_ptr<Engine> engine_;
  std::vector<char> buffer_;
  std::vector<std::uint32_t> turn_;  // the users that are dealt with in this turn
  std::int64_t turn_due_ns_ = 0;     // when that should have begun
  std::int64_t now_ns_ = 0;          // when this user is dealt with
  std::int64_t late_ns_ = 0;         // by how much loadgen itself is late with it
  Lateness lateness_;
  std::int64_t next_sample_ns_ = 0;
  std::uint32_t next_sampled_ = 0;

  Tally* tally_ = nullptr;  // that of the recorder
  LiveCounts live_;
  std::optional<std::string> failure_;
};

}  // namespace loadgen::crowd
