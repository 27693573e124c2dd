#include "loadgen/workload.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "wire/request.h"

namespace loadgen {

std::int64_t file_number(int thread, int count, std::int64_t request) {
  return std::int64_t{thread} * count + request % count + 1;
}

bool has_number(std::string_view pattern) {
  return pattern.find(kNumberMark) != std::string_view::npos;
}

std::string numbered(std::string_view pattern, std::int64_t number) {
  std::string name;
  for (;;) {
    const std::size_t mark = pattern.find(kNumberMark);
    name += pattern.substr(0, mark);
    if (mark == std::string_view::npos) return name;
    name += std::to_string(number);
    pattern.remove_prefix(mark + kNumberMark.size());
  }
}

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
      new_password_(random_word()),
      generator_(std::random_device()()) {
  if (makes_given_accounts_) account_ = new_accounts_.take_number();
}

bool Workload::is_used_up() const {
  if (makes_given_accounts_) return account_ > config_.accounts;
  return config_.asks_once && requests_ >= config_.unique;
}

Request Workload::next() {
  compose();
  ++requests_;
  const std::string_view lines = lines_;
  return {lines.substr(0, opening_.size()), lines.substr(opening_.size()), lines, file_name_};
}

void Workload::compose() {
  if (config_.request == RequestKind::kNew) {
    opening_ = new_line();
    lines_ = opening_;
    return;
  }
  opening_ = get_line();
  const std::int64_t number =
      config_.unique == 0 ? 0 : file_number(thread_, config_.unique, requests_);
  file_name_ = numbered(config_.file, number);
  lines_ = opening_ + wire::line_of(wire::FileName{file_name_});
}

std::string Workload::new_line() {
  if (!makes_given_accounts_) {
    const std::string& run_name = new_accounts_.run_name();
    const std::string user = fmt::format("load-{}-{}-{}", run_name, thread_, requests_);
    return wire::line_of(wire::New{{user, new_password_}});
  }
  const std::int64_t account = std::exchange(account_, new_accounts_.take_number());
  return wire::line_of(
      wire::New{{numbered(config_.user, account), numbered(config_.password, account)}});
}

std::string Workload::get_line() {
  const int account = std::uniform_int_distribution(1, config_.accounts)(generator_);
  return wire::line_of(
      wire::Get{{numbered(config_.user, account), numbered(config_.password, account)}});
}

}  // namespace loadgen
