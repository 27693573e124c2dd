#include "loadgen/second_count.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"
#include "net/connect.h"
#include "net/socket_io.h"

namespace loadgen {

namespace {

constexpr std::int64_t kReadMs = 5000;
constexpr std::size_t kMostPageBytes = std::size_t{4} << 20;

// A server counts an answer a moment after its last byte has left.
constexpr int kMostLagMs = 1000;
constexpr int kLookAgainMs = 10;

base::Error failure(const net::HostPort& at, std::string_view why) {
  return {
      base::ErrorCode::kUnavailable,
      fmt::format("--telemetry: the counters of {} cannot be read: {}", net::to_string(at), why)};
}

base::Result<std::string> answer_of(const net::SocketAddress& address) {
  auto connection = net::connect_to(address, kReadMs);
  if (!connection) return connection.error();
  const base::Error silent{base::ErrorCode::kUnavailable, "no answer"};
  if (!net::send_all(connection->get(), "GET /metrics HTTP/1.0\r\n\r\n")) return silent;
  std::string answer;
  std::array<char, 16384> part{};
  const auto deadline = base::Deadline::in_ms(kReadMs);
  while (answer.size() <= kMostPageBytes) {
    if (!net::wait_until_readable(connection->get(), deadline)) return silent;
    const ssize_t got = net::receive(connection->get(), part);
    if (got == 0) return answer;
    if (got < 0) return silent;
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  return base::Error{base::ErrorCode::kUnavailable, "the answer does not end"};
}

base::Result<std::string> page_of(const net::HostPort& at) {
  const auto addresses = net::resolve(at);
  if (!addresses) return failure(at, addresses.error().context);
  auto answer = answer_of(addresses->front());
  if (!answer) return failure(at, answer.error().context);
  const std::size_t head_bytes = answer->find("\r\n\r\n");
  if (!answer->starts_with("HTTP/1.") || head_bytes == std::string::npos ||
      answer->substr(8, 5) != " 200 ") {
    return failure(at, "the answer is no page of metrics");
  }
  answer->erase(0, head_bytes + 4);
  return answer;
}

std::optional<std::uint64_t> sample(std::string_view page, std::string_view verb) {
  const std::string name =
      fmt::format("\nturnstile_requests_total{{verb=\"{}\",result=\"OK\"}} ", verb);
  const std::size_t at = page.find(name);
  if (at == std::string_view::npos) return {};
  page.remove_prefix(at + name.size());
  std::uint64_t count = 0;
  const auto [end, wrong] = std::from_chars(page.data(), page.data() + page.size(), count);
  if (wrong != std::errc() || end == page.data() + page.size() || *end != '\n') return {};
  return count;
}

}  // namespace

std::uint64_t ServerCounts::of(RequestKind kind) const {
  switch (kind) {
    case RequestKind::kNew: return accounts;
    case RequestKind::kGet: return files;
    case RequestKind::kPut: return uploads;
  }
  return 0;
}

std::optional<ServerCounts> counts_in(std::string_view page) {
  const auto accounts = sample(page, "new");
  const auto files = sample(page, "file");
  const auto uploads = sample(page, "put");
  if (!accounts || !files || !uploads) return {};
  return ServerCounts{*accounts, *files, *uploads};
}

base::Result<std::uint64_t> SecondCount::read() const {
  const auto page = page_of(*config_.telemetry);
  if (!page) return page.error();
  const auto counts = counts_in(*page);
  if (!counts) return failure(*config_.telemetry, "they are not those of a fileserver");
  if (!is_mixed(config_)) return counts->of(config_.request);
  std::uint64_t all = 0;
  for (const RequestKind kind : {RequestKind::kNew, RequestKind::kGet, RequestKind::kPut})
    all += counts->of(kind);
  return all;
}

base::Status SecondCount::begin() {
  if (!config_.telemetry) return base::kDone;
  const auto count = read();
  if (!count) return count.error();
  before_ = *count;
  return base::kDone;
}

void SecondCount::finish(Figures& figures) const {
  if (!config_.telemetry) return;
  CountCheck& check = figures.count_check.emplace(count_of(figures.tally));
  check.address = net::to_string(*config_.telemetry);
  const auto deadline = base::Deadline::in_ms(kMostLagMs);
  for (;;) {
    const auto count = read();
    if (!count) {
      check.why_unknown = count.error().context;
      return;
    }
    if (*count < before_) {
      check.why_unknown = "the server was started again during the run, and counts from 0";
      return;
    }
    check.server = *count - before_;
    if (check.server >= check.loadgen || deadline.has_passed()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookAgainMs));
  }
}

}  // namespace loadgen
