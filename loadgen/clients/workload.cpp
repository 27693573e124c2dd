#include "loadgen/clients/workload.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "loadgen/config/numbered.h"

namespace loadgen {

std::string random_word() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

namespace {

// Each thread has a stream of its own. The seeds of two of them are far apart: such a generator
// begins with nearly the same numbers when its seeds are neighbours.
std::minstd_rand generator_of(int seed, int thread) {
  std::seed_seq mixed{seed, thread};
  return std::minstd_rand(mixed);
}

}  // namespace

// The number of an account is taken before it is needed. So is_used_up() knows whether there is one
// left, and no number is lost between the question and the request.
Workload::Workload(const Config& config, NewAccounts& new_accounts, int thread)
    : config_(config),
      thread_(thread),
      makes_given_accounts_(makes_given_accounts(config)),
      new_accounts_(new_accounts),
      new_password_(random_word()),
      generator_(generator_of(config.seed, thread)) {
  if (makes_given_accounts_) account_ = new_accounts_.take_number();
}

bool Workload::is_used_up() const {
  if (makes_given_accounts_) return account_ > config_.accounts;
  return config_.asks_once && requests_ >= config_.unique;
}

Request Workload::next() {
  if (config_.request == RequestKind::kNew) {
    choose_new_account();
  } else {
    choose_account(std::uniform_int_distribution(1, config_.accounts)(generator_));
    choose_file();
  }
  ++requests_;
  return {{user_, password_}, file_name_, static_cast<std::uint64_t>(config_.size_bytes)};
}

void Workload::choose_new_account() {
  if (makes_given_accounts_)
    return choose_account(std::exchange(account_, new_accounts_.take_number()));
  user_ = new_name();
  password_ = new_password_;
}

// No other request of any run gets this name.
std::string Workload::new_name() const {
  return fmt::format("load-{}-{}-{}", new_accounts_.run_name(), thread_, requests_);
}

void Workload::choose_file() {
  if (config_.request == RequestKind::kPut) {
    file_name_ = new_name();
    return;
  }
  const std::int64_t number =
      config_.unique == 0 ? 0 : file_number(thread_, config_.unique, requests_);
  file_name_ = numbered(config_.file, number);
}

void Workload::choose_account(std::int64_t number) {
  user_ = numbered(config_.user, number);
  password_ = numbered(config_.password, number);
}

}  // namespace loadgen
