#include "fileserver/rights/lock_client.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fileserver/rights/lock_service.h"
#include "net/abstract_socket.h"
#include "net/fd.h"
#include "net/socket_io.h"
#include "serve/startup.h"

namespace fileserver {

namespace {

// A fileserver that was found, with a connection to it.
struct Running {
  net::Fd fd;
  net::PeerCredentials owner;

  bool may_be_asked() const { return ::geteuid() == 0 || ::geteuid() == owner.uid; }
};

base::Error problem(std::string why) { return {base::ErrorCode::kInternal, std::move(why)}; }

// Of any user: whoever runs other programs under such a name is told apart by its user and its
// process id.
std::vector<Running> all_running() {
  std::vector<Running> all;
  for (const std::string& name : net::abstract_listeners(kLockServicePrefix)) {
    auto fd = net::connect_to_abstract(name);
    const auto owner = fd ? net::credentials_of_peer(fd->get()) : std::nullopt;
    if (owner && owner->pid != 0) all.push_back({std::move(*fd), *owner});
  }
  return all;
}

std::string user_of(uid_t uid) {
  const passwd* const entry = ::getpwuid(uid);
  return entry == nullptr ? std::to_string(uid) : entry->pw_name;
}

// "123 (user amy: fileserver --root docs)"
std::string description_of(const Running& one) {
  constexpr std::size_t kMostBytes = 120;
  std::ifstream file(fmt::format("/proc/{}/cmdline", one.owner.pid));
  std::string words(std::istreambuf_iterator<char>(file), {});
  while (words.ends_with('\0')) words.pop_back();
  std::ranges::replace(words, '\0', ' ');
  if (words.size() > kMostBytes) words = words.substr(0, kMostBytes) + "...";
  return fmt::format("{} (user {}: {})", one.owner.pid, user_of(one.owner.uid), words);
}

std::string descriptions_of(const std::vector<Running>& several) {
  std::string text;
  for (const Running& one : several) text += (text.empty() ? "" : ", ") + description_of(one);
  return text;
}

// The one that is meant. Owns a connection to it.
base::Result<Running> find_server(const std::string& asked) {
  std::vector<Running> found = all_running();
  const bool is_any = asked.empty() || asked == kOnlyOne;
  if (!is_any)
    std::erase_if(found, [&](const auto& one) { return std::to_string(one.owner.pid) != asked; });
  if (found.empty() && !is_any)
    return problem("no fileserver with locks has the process id " + asked);
  if (found.empty())
    return problem("no fileserver with --http-listen and --uploads folder runs on this host");
  const std::string seen = descriptions_of(found);
  std::erase_if(found, [](const Running& one) { return !one.may_be_asked(); });
  if (found.empty()) return problem("only its user and root may ask for the locks of " + seen);
  if (found.size() > 1)
    return problem("several fileservers run here, name one by its process id: " +
                   descriptions_of(found));
  return std::move(found.front());
}

// The lines of the answer. An error if its end is missing.
base::Result<std::string> answer_of(const Running& server, const std::string& request) {
  constexpr int kAnswerMs = 15'000;
  constexpr std::size_t kMostAnswerBytes = 256 << 20;
  const std::string end = std::string(kEndOfLocks) + "\n";
  net::set_io_timeout(server.fd.get(), kAnswerMs);
  std::string text;
  if (net::send_now(server.fd.get(), request) == static_cast<ssize_t>(request.size())) {
    std::array<char, 16 << 10> piece;
    for (ssize_t got = 0; (got = net::receive(server.fd.get(), piece)) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(got));
      if (text.size() > kMostAnswerBytes) break;
    }
  }
  const bool is_whole = text == end || text.ends_with("\n" + end);
  if (!is_whole) return problem("the fileserver did not answer");
  text.resize(text.size() - end.size());
  // It may be any program of that user, and this may be a terminal of root.
  std::ranges::replace_if(
      text, [](unsigned char byte) { return byte != '\n' && (byte < 0x20 || byte == 0x7f); }, '?');
  return text;
}

base::Result<std::string> lines_for(const LockQuestion& question) {
  const auto server = find_server(question.server);
  if (!server) return server.error();
  const std::string request =
      question.end.empty() ? std::string(kListLocks) : std::string(kEndLocks) + question.end;
  auto lines = answer_of(*server, request + "\n");
  if (lines && lines->empty() && !question.end.empty())
    return problem("there is no such lock: " + question.end);
  return lines;
}

}  // namespace

int ask_for_locks(const LockQuestion& question) {
  const auto lines = lines_for(question);
  if (!lines) return serve::failed_to_start("fileserver", lines.error());
  if (lines->empty()) std::cerr << "fileserver: there are no locks\n";
  std::cout << *lines << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace fileserver
