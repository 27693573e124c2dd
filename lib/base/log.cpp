#include "base/log.h"

#include <fmt/core.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <new>

#include "base/line_writer.h"

namespace base::log {

namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarn: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Whoever logs may serve many connections, so it does not wait for the reader of standard error.
class StandardError final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    writer_.write({line.data(), line.size()});
  }
  void flush_() override {}

  LineWriter writer_{STDERR_FILENO};
};

spdlog::logger& logger() {
  static spdlog::logger the_logger = [] {
    spdlog::logger made("turnstile", std::make_shared<StandardError>());
    made.set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    return made;
  }();
  return the_logger;
}

std::string quoted_up_to(std::size_t most, std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += bytes.size() > most ? "\"..." : "\"";
  return out;
}

}  // namespace

void set_level(Level least_important) { logger().set_level(spdlog_level(least_important)); }

bool is_on(Level level) { return logger().should_log(spdlog_level(level)); }

void write(Level level, std::string_view line) { logger().log(spdlog_level(level), line); }

void write_formatted(Level level, fmt::string_view format, fmt::format_args args) {
  try {
    write(level, fmt::vformat(format, args));
  } catch (const std::bad_alloc&) {
    write(level, "a line is missing here: out of memory");
  }
}

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kMost = 80;
  return quoted_up_to(kMost, bytes);
}

std::string quoted_long(std::string_view bytes) {
  constexpr std::size_t kMost = 1000;
  return quoted_up_to(kMost, bytes);
}

}  // namespace base::log
