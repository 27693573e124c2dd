#include "serve/startup.h"

#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>

#include "base/host.h"
#include "base/stop_signals.h"
#include "guard/user.h"
#include "net/fd.h"
#include "net/listen.h"

namespace serve {

namespace {

// Tells the service manager that may have started this program, such as systemd, that the server is
// ready, with a line that it shows as the status. Does nothing unless the variable NOTIFY_SOCKET
// names a socket by its path (man sd_notify). A failure is logged, and the service manager then
// stops the server after its own time-out.
void tell_ready(std::string_view status) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path != '/' || std::strlen(path) > net::kMaxUnixPathBytes) return;
  const std::string message = "READY=1\nSTATUS=" + std::string(status) + "\n";
  const net::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const net::SocketAddress address{std::string_view(path)};
  if (fd.is_open() && ::sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL,
                               address.get(), address.size()) >= 0)
    return;
  const auto failure = base::errno_error(base::ErrorCode::kUnavailable, path, errno);
  base::log::warn("the service manager cannot be told that the server is ready reason=\"{}\"",
                  failure.context);
}

std::string congestion_control() {
  std::string name = "unknown";
  std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> name;
  return name;
}

// The last step of the sandbox, and what the log says about all of it.
void complete_sandbox(const base::Result<guard::Restricted>& sandbox) {
  if (!sandbox)
    return base::log::warn("there is no sandbox reason=\"{}\"", sandbox.error().context);
  std::string gap = sandbox->gap;
  const auto done = guard::refuse_listening();
  if (!done && gap.empty()) gap = "listen: " + done.error().context;
  base::log::info("sandbox restricts=\"{}\"", sandbox->what);
  if (!gap.empty()) base::log::warn("the sandbox has a gap reason=\"{}\"", gap);
}

// What only somebody asks for who measures, or looks for the cause of something.
void log_limits(const Options& options, std::uint64_t descriptors) {
  const bool has_loops = options.model == Model::kEvent;
  base::log::debug(
      "limits backlog={} max_connections={} {}={} descriptors={} congestion_control={}",
      net::longest_backlog(), options.max_connections, has_loops ? "loops" : "spare",
      has_loops ? loops_of(options) : options.spare, descriptors, congestion_control());
  // A connection may need a second descriptor, for a file or for a connection to another server.
  if (descriptors < 2 * static_cast<std::uint64_t>(options.max_connections)) {
    base::log::warn(
        "fewer descriptors than --max-connections may need limit={} hint=\"ulimit -n {}\"",
        descriptors, 2 * options.max_connections + 100);
  }
}

// " http=HOST:PORT" and so on, without those that there are not.
std::string further_addresses(const Addresses& addresses) {
  std::string result;
  if (addresses.http) result += " http=" + net::to_string(*addresses.http);
  if (addresses.https) result += " https=" + net::to_string(*addresses.https);
  if (addresses.tls) result += " tls=" + net::to_string(*addresses.tls);
  if (addresses.telemetry) result += " telemetry=" + net::to_string(*addresses.telemetry);
  return result;
}

}  // namespace

int run_server(std::string_view program, base::log::Level log_level,
               const std::function<int()>& body) {
  try {
    base::log::set_level(log_level);
    base::hold_stop_signals();
    guard::forbid_more_rights();
    base::make_threads_small();
    base::raise_descriptor_limit();
    return body();
  } catch (const std::exception& failure) {
    return failed_to_start(program, {base::ErrorCode::kInternal, failure.what()});
  }
}

int failed_to_start(std::string_view program, const base::Error& error) {
  // A store may have written a part of the text, so control bytes must not reach a terminal.
  std::string text = error.context;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(),
               text.c_str());
  return 1;
}

base::Status become_user(const Options& options) {
  const base::Status done =
      options.user.empty() ? base::Status(base::kDone) : guard::become_user(options.user);
  base::allow_debugging(options.is_debuggable);  // a change of the user forbids it as well
  return done;
}

base::Result<guard::Restricted> enter_sandbox(const Options& options,
                                              const guard::Allowed& allowed) {
  if (options.sandbox == Sandbox::kOff)
    return base::Error{base::ErrorCode::kUnavailable, "--sandbox off"};
  ::tzset();  // reads the time zone for the log, which cannot be read later
  guard::Allowed all = allowed;
  if (options.telemetry_listen) all.readable.emplace_back("/proc");  // for the process_* metrics
#if defined(TURNSTILE_SANITIZE_ADDRESS) || defined(TURNSTILE_SANITIZE_THREAD)
  all.readable.emplace_back("/proc");  // the sanitizers look at their own process
#endif
  return guard::restrict_to(all);
}

void announce_ready(const Addresses& addresses, const Options& options,
                    const base::Result<guard::Restricted>& sandbox) {
  log_limits(options, base::raise_descriptor_limit());
  complete_sandbox(sandbox);
  if (guard::is_root() && options.user.empty())
    base::log::warn("the server runs as root hint=\"--user NAME, or --user root to keep it\"");
  const std::string listen = net::to_string(addresses.listen);
  const std::string further = further_addresses(addresses);
  base::log::info("ready listen={}{}", listen, further);
  const std::string line = "READY " + listen + further;
  tell_ready(line);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

}  // namespace serve
