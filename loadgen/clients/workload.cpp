#include "loadgen/clients/workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "loadgen/clients/draw.h"
#include "loadgen/config/numbered.h"

namespace loadgen {

std::string random_word() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

// The number of an account is taken before it is needed. So is_used_up() knows whether there is one
// left, and no number is lost between the question and the request.
Workload::Workload(const Config& config, NewAccounts& new_accounts, int thread)
    : config_(config),
      thread_(thread),
      makes_given_accounts_(makes_given_accounts(config)),
      new_accounts_(new_accounts),
      popularity_(std::max(config.files, 1), config.zipf),
      new_password_(random_word()) {
  if (makes_given_accounts_) account_ = new_accounts_.take_number();
}

bool Workload::is_used_up() const {
  if (makes_given_accounts_) return account_ > config_.accounts;
  return config_.asks_once && gets_ >= config_.unique;
}

Request Workload::next(int stream, std::int64_t number) {
  const RequestKind kind = draw_kind(stream, number);
  if (kind == RequestKind::kNew) {
    choose_new_account();
    file_name_.clear();
  } else {
    Draw account(config_.seed, stream, number, Drawn::kAccount);
    choose_account(account.from_one_to(config_.accounts));
    choose_file(kind, stream, number);
  }
  ++requests_;
  if (kind == RequestKind::kGet) ++gets_;
  return {.account = {user_, password_},
          .file_name = file_name_,
          .size_bytes = static_cast<std::uint64_t>(config_.size_bytes),
          .kind = kind};
}

RequestKind Workload::draw_kind(int stream, std::int64_t number) const {
  if (!is_mixed(config_)) return config_.request;
  Draw share(config_.seed, stream, number, Drawn::kKind);
  const auto all = std::accumulate(config_.mix.begin(), config_.mix.end(), std::int64_t{0});
  std::int64_t left = share.from_one_to(all);
  std::size_t kind = 0;
  while (left > config_.mix[kind]) left -= config_.mix[kind++];
  return static_cast<RequestKind>(kind);
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

void Workload::choose_file(RequestKind kind, int stream, std::int64_t number) {
  if (kind == RequestKind::kPut) {
    file_name_ = puts_given_file(config_) ? numbered(config_.file, thread_ + 1) : new_name();
    return;
  }
  file_name_ = numbered(config_.file, file_number_of(stream, number));
}

std::int64_t Workload::file_number_of(int stream, std::int64_t number) const {
  if (config_.files > 0) {
    Draw file(config_.seed, stream, number, Drawn::kFile);
    return popularity_.draw(file);
  }
  return config_.unique == 0 ? 0 : file_number(thread_, config_.unique, gets_);
}

void Workload::choose_account(std::int64_t number) {
  user_ = numbered(config_.user, number);
  password_ = numbered(config_.password, number);
}

}  // namespace loadgen
