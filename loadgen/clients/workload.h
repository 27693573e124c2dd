// What one thread asks for, one request after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "loadgen/clients/popularity.h"
#include "loadgen/clients/request.h"
#include "loadgen/config/config.h"

namespace loadgen {

// 24 random hexadecimal digits.
std::string random_word();

// The accounts that the threads of one run make: no two requests get the same.
//
// Any thread.
class NewAccounts {
 public:
  // `run_name` becomes part of user names, so it must differ from that of every other run.
  explicit NewAccounts(std::string run_name) : run_name_(std::move(run_name)) {}

  const std::string& run_name() const { return run_name_; }

  // Returns 1 in the first call, then 2, and so on.
  std::int64_t take_number() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::string run_name_;
  std::atomic<std::int64_t> next_ = 1;  // no other data depends on it
};

// One thread.
class Workload {
 public:
  // `config` and `new_accounts`, which all threads of the run share, must outlive it. `thread` is
  // its number_in_load(). The same seed and thread draw the same accounts.
  Workload(const Config& config, NewAccounts& new_accounts, int thread);

  // The next request of this thread. The result points into this object and is valid until the next
  // call. Requires: the workload is not used up.
  Request next() { return next(thread_, requests_); }

  // The request with this number of a schedule that all threads share: the same is drawn for it,
  // whichever thread sends it. The rest is as above.
  Request next_of_schedule(std::int64_t number) { return next(0, number); }

  // Whether this thread has nothing left to ask for. With --once, it has asked for each of its
  // files. If the run makes given accounts, the threads have taken all of them. Requests of the
  // warm-up count.
  bool is_used_up() const;

 private:
  Request next(int stream, std::int64_t number);
  std::string new_name() const;
  void choose_new_account();
  RequestKind draw_kind(int stream, std::int64_t number) const;
  void choose_file(RequestKind kind, int stream, std::int64_t number);
  std::int64_t file_number_of(int stream, std::int64_t number) const;
  void choose_account(std::int64_t number);

  const Config& config_;
  const int thread_;
  const bool makes_given_accounts_;
  NewAccounts& new_accounts_;
  const Popularity popularity_;
  const std::string new_password_;
  std::int64_t account_ = 0;  // the account that is made next, if the run makes given accounts
  std::int64_t requests_ = 0;
  std::int64_t gets_ = 0;  // of the requests

  // What the last Request points to.
  std::string user_;
  std::string password_;
  std::string file_name_;
};

}  // namespace loadgen
