#include "loadgen/workload.h"

#include <fmt/format.h>

#include <random>

#include "wire/request.h"

namespace loadgen {

std::int64_t file_number(int thread, int count, std::int64_t request) {
  return std::int64_t{thread} * count + request % count + 1;
}

bool has_number(std::string_view pattern) {
  return pattern.find(kNumberMark) != std::string_view::npos;
}

std::string file_name(std::string_view pattern, std::int64_t number) {
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

Workload::Workload(const Config& config, std::string_view run_name, int thread)
    : config_(config), thread_(thread), run_name_(run_name), new_password_(random_word()) {
  if (config.request == RequestKind::kGet) {
    opening_ = wire::line_of(wire::Get{{config.user, config.password}});
  }
}

Request Workload::next() {
  compose();
  ++requests_;
  const std::string_view lines = lines_;
  return {lines.substr(0, opening_.size()), lines.substr(opening_.size()), lines, file_name_};
}

void Workload::compose() {
  if (config_.request == RequestKind::kNew) {
    const std::string user = fmt::format("load-{}-{}-{}", run_name_, thread_, requests_);
    opening_ = wire::line_of(wire::New{{user, new_password_}});
    lines_ = opening_;
    return;
  }
  const std::int64_t number =
      config_.unique == 0 ? 0 : file_number(thread_, config_.unique, requests_);
  file_name_ = file_name(config_.file, number);
  lines_ = opening_ + wire::line_of(wire::FileName{file_name_});
}

}  // namespace loadgen
