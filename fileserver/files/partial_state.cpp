#include "fileserver/files/partial_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/file_io.h"
#include "http/path.h"
#include "net/fd.h"

namespace fileserver {

namespace {

constexpr std::string_view kFormat = "turnstile-parts-1";
constexpr std::size_t kMostStateBytes = 32 << 10;

std::string state_name(const std::string& id) { return id + std::string(kStateEnd); }

// Of a state that is being written.
std::string new_name(const std::string& id) { return id + ".new"; }

std::string text_of(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string text_of(const PartialState& state) {
  return fmt::format("{} {} {} {} {} {}\n{}", kFormat,
                     state.protocol == PartialState::Protocol::kTus ? "tus" : "parts", state.user,
                     text_of(state.length_bytes), text_of(state.kept_bytes),
                     state.is_complete ? "complete" : "-", state.head);
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

std::optional<PartialState> parsed_state(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  std::string_view line = text.substr(0, end);
  if (take_word(line) != kFormat) return {};
  PartialState state;
  state.protocol =
      take_word(line) == "tus" ? PartialState::Protocol::kTus : PartialState::Protocol::kParts;
  state.user = take_word(line);
  state.length_bytes = number_in(take_word(line));
  state.kept_bytes = number_in(take_word(line));
  state.is_complete = take_word(line) == "complete";
  state.head = text.substr(end + 1);
  return state;
}

}  // namespace

std::string file_name_of(const PartialState& state) {
  constexpr std::string_view kMethod = "PUT ";
  const std::string_view head = state.head;
  if (!head.starts_with(kMethod)) return {};
  const std::string_view target = head.substr(kMethod.size());
  std::string path(target.substr(0, target.find(' ')));
  const auto decoded = http::decode_path(path, path);
  return decoded ? std::string(decoded->name) : std::string();
}

std::optional<PartialState> read_state(int folder, const std::string& id, std::int64_t& changed_s) {
  const std::string name = state_name(id);
  const net::Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) return {};
  changed_s = std::max<std::int64_t>(changed_s, status.st_mtim.tv_sec);
  std::string text(kMostStateBytes, '\0');
  const ssize_t size = base::read_fully_at(fd.get(), text, 0);
  if (size < 0) return {};
  text.resize(static_cast<std::size_t>(size));
  auto state = parsed_state(text);
  if (!state) errno = ENOENT;
  return state;
}

bool write_state(int folder, const std::string& id, const PartialState& state, bool is_durable) {
  const std::string name = state_name(id);
  const std::string next = new_name(id);
  constexpr mode_t kMode = 0600;
  const net::Fd fd(
      ::openat(folder, next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kMode));
  const bool is_written = fd.is_open() && base::write_all(fd.get(), text_of(state)) &&
                          base::sync(fd.get()) &&
                          ::renameat(folder, next.c_str(), folder, name.c_str()) == 0 &&
                          (!is_durable || base::sync(folder));
  if (is_written) return true;
  const int failure = errno;
  ::unlinkat(folder, next.c_str(), 0);
  errno = failure;
  return false;
}

void remove_state(int folder, const std::string& id) {
  ::unlinkat(folder, state_name(id).c_str(), 0);
  ::unlinkat(folder, new_name(id).c_str(), 0);
}

}  // namespace fileserver
