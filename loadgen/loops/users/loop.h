// A thread with many users, each of which has one request under way at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/clients/event_client.h"
#include "loadgen/clients/workload.h"
#include "loadgen/config/share.h"
#include "loadgen/figures/think.h"
#include "loadgen/loops/load.h"

namespace loadgen::users {

// What closed and open loops of users have in common: it is to --users what ClientLoop is to
// threads. When a user sends its next request is up to the kind of loop.
class UserLoop : public Loop {
 public:
  // `shared` must outlive it.
  UserLoop(const Shared& shared, Share share);

  // What the system refused to the engine, or why a file could not be saved.
  std::optional<std::string> failure() const final { return failure_; }

 protected:
  // One user. `number` counts from 0 in the thread, `tester` in the whole load.
  struct User {
    User(const Shared& shared, ClientTools& tools, int tester_number, std::uint32_t own_number)
        : workload(shared.config, shared.new_accounts, tester_number),
          client(tools, tester_number, own_number),
          transfers(shared.transfers, tester_number),
          tester(tester_number),
          number(own_number) {}

    Workload workload;
    EventClient client;
    TransferLines transfers;
    Request request = {};  // the last one
    const int tester;
    const std::uint32_t number;
    std::int64_t sent = 0;           // its requests that have ended
    std::int64_t done = 0;           // those of them that counted
    std::int64_t begun_ns = 0;       // when it began with the first one that counts
    Pause pause = {};                // of --think, the last one
    std::int64_t free_since_ns = 0;  // when it was done with the last request
    std::int64_t due_ns = 0;         // only in an open loop, of the request
    bool counts = false;             // the request does
    bool is_first_of_phase = true;   // the next request is
    bool is_queued = false;          // has more to do at once
    std::int64_t wakes_ns = 0;       // the moment of its timer; 0: there is none
  };

  // Sends the requests of all phases. Waits at their gates.
  virtual void send_requests(RunControl& control) = 0;

  // A request of the user has ended: its exchange is in `one.client`. It may begin the next one.
  virtual void ended(User& one) = 0;

  // The moment of wake_at() has come, or cuts_pauses() holds. Not while the user has a request
  // under way.
  virtual void woke(User& /*one*/) {}
  virtual bool cuts_pauses() const { return false; }
  void wake_at(User& one, std::int64_t moment_ns);

  // Begins a request of the user, which ended() will be told of, but not within this call.
  void begin(User& one, const Request& request);

  // Waits until a user can go on, or until a time of base::now_ns(), or for a tenth of a second;
  // and deals with all that can go on.
  void turn(std::int64_t until_ns);

  void note_transfer(User& one);

  const Shared& shared_;
  const Config& config_;
  RunControl& control_;
  std::deque<User> users_;  // each stays where it is
  int under_way_ = 0;       // requests

 private:
  using Timer = std::pair<std::int64_t, std::uint32_t>;  // a moment, and the number of a user

  void prepare() final;
  void carry_load(RunControl& control) final;
  void connect_all();
  int give_up_late_ones(std::size_t begun);
  void settle(User& one, EventClient::State state);
  void go_on(User& one);
  void finish(User& one);
  void wait_for_users(std::int64_t until_ns);
  void go_on_with_timers();
  void go_on_with_more();
  void look_for_late();
  void note(const std::optional<std::string>& failure);
  std::uint32_t user_of(std::uint32_t number) const { return number % tools_.users; }

  const Share share_;
  std::vector<char> buffer_;
  ClientTools tools_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<std::uint32_t> ready_;  // as the engine reports them
  std::vector<User*> more_;           // those that are queued
  std::vector<User*> ended_;          // ended() was not called yet
  std::int64_t next_look_ns_ = 0;     // for requests that are late
  std::optional<std::string> failure_;
};

}  // namespace loadgen::users
