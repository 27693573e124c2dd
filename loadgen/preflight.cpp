#include "loadgen/preflight.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/host.h"
#include "base/standard_streams.h"
#include "loadgen/config/numbered.h"
#include "net/connect.h"

namespace loadgen {

namespace {

// What is missing and what to do about it, in one line; empty if nothing is missing.
using Wrong = std::optional<std::string>;

// What has a connection each.
const char* clients(const Config& config) { return config.users > 0 ? "users" : "threads"; }

Wrong check_descriptors(const Config& config) {
  constexpr std::uint64_t kOthers = 32;  // standard streams, the result, files of libraries
  const std::uint64_t for_each_thread =
      sockets_of(config) + (config.must_verify ? 1 : 0) + (config.save.empty() ? 0 : 1);
  const std::uint64_t needed =
      static_cast<std::uint64_t>(testers_of(config)) * for_each_thread + kOthers;
  const std::uint64_t limit = base::raise_descriptor_limit();
  if (limit >= needed) return {};
  return fmt::format(
      "{} {} need {} descriptors, but the limit is {}; raise it as root with `ulimit -Hn {}`, "
      "or use fewer {}",
      testers_of(config), clients(config), needed, limit, needed, clients(config));
}

Wrong check_threads(const Config& config) {
  constexpr std::int64_t kOthers = 1;  // that notices stalls
  const base::ThreadRoom room = base::room_for_threads();
  if (room.count >= config.threads + kOthers) return {};
  return fmt::format(
      "{} threads cannot be started, because {} and leaves room for {} more; raise it, or use "
      "fewer threads",
      config.threads, room.limit, room.count);
}

Wrong check_ports(const Config& config, const EphemeralPorts& ports, int sources) {
  const std::int64_t in_all = std::int64_t{ports.count} * sources;
  const std::int64_t needed = std::int64_t{testers_of(config)} * sockets_of(config);
  if (config.server.is_unix() || needed <= in_all) return {};
  return fmt::format(
      "{} {} need {} local ports, but there are only {}; widen net.ipv4.ip_local_port_range, "
      "or use fewer {}",
      testers_of(config), clients(config), needed, in_all, clients(config));
}

Wrong check_save_folder(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!failure && ::access(folder.c_str(), W_OK) != 0) failure = {errno, std::generic_category()};
  if (!failure) return {};
  return fmt::format("--save: {}: {}", folder, failure.message());
}

std::optional<std::string> open_tls(const Config& config, Ready& ready) {
  if (!config.is_encrypted) return {};
  tls::ClientFiles files{.authorities = config.tls_ca, .believes_anybody = config.believes_anybody};
  const char* const spoken = config.protocol == Protocol::kHttp ? "http/1.1" : "turnstile";
  ready.tls = std::make_unique<tls::ClientContext>(std::move(files), spoken);
  const auto opened = ready.tls->open();
  return opened ? std::nullopt : std::optional(opened.error().context);
}

// Leaves out the addresses that do not accept a connection, unless none of them does. A name such
// as localhost often stands for IPv4 and IPv6, and the server listens on one of them.
void leave_out_unreachable(const Config& config, Ready& ready) {
  std::vector<net::SocketAddress> reachable;
  std::vector<std::string> warnings;
  for (const net::SocketAddress& address : ready.servers) {
    const auto connection = net::connect_to(address, config.timeout_ms);
    if (connection) {
      reachable.push_back(address);
    } else {
      warnings.push_back(fmt::format("{}; the other addresses of {} get the load",
                                     connection.error().context, config.server.host));
    }
  }
  if (reachable.empty()) return;
  ready.servers = std::move(reachable);
  ready.warnings.insert(ready.warnings.end(), warnings.begin(), warnings.end());
}

// Shows on a terminal how far the search for copies is, as a search for millions takes a while.
class SearchProgress {
 public:
  ~SearchProgress() {
    if (is_shown_) base::tell("\r\033[K");
  }

  void show(std::int64_t number, std::int64_t count) {
    if (!is_terminal_ || number % 1024 != 0 || !next_.has_passed()) return;
    base::tell(fmt::format("\r\033[Klooking for the copies of --verify: {} of {}", number, count));
    is_shown_ = true;
    next_ = base::Deadline::in_ms(kEveryMs);
  }

 private:
  static constexpr std::int64_t kEveryMs = 1000;

  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool is_shown_ = false;
  base::Deadline next_ = base::Deadline::in_ms(kEveryMs);
};

bool are_all(const std::vector<net::SocketAddress>& servers,
             bool (net::SocketAddress::*is_one)() const) {
  return std::all_of(servers.begin(), servers.end(),
                     [is_one](const net::SocketAddress& server) { return (server.*is_one)(); });
}

}  // namespace

base::Result<Ready> prepare(const Config& config) {
  const auto failed = [](std::string why) {
    return base::Error{base::ErrorCode::kUnavailable, std::move(why)};
  };
  if (auto wrong = check_descriptors(config)) return failed(std::move(*wrong));
  if (auto wrong = check_threads(config)) return failed(std::move(*wrong));
  auto servers = net::resolve(config.server);
  if (!servers) return servers.error();

  Ready ready{std::move(*servers), Sources(), {}, {}};
  if (auto wrong = open_tls(config, ready)) return failed(std::move(*wrong));
  if (ready.servers.size() > 1) leave_out_unreachable(config, ready);
  const bool has_sources = are_all(ready.servers, &net::SocketAddress::is_loopback_v4);
  if (has_sources && (config.connection == Connection::kPerRequest || config.users > 0))
    ready.sources = Sources::spread(Sources::kSpread);
  const EphemeralPorts ports =
      ephemeral_ports(are_all(ready.servers, &net::SocketAddress::is_loopback));
  if (auto wrong = check_ports(config, ports, ready.sources.count()))
    return failed(std::move(*wrong));
  if (auto wrong = missing_files(config)) return failed(std::move(*wrong));
  if (auto wrong = check_save_folder(config.save)) return failed(std::move(*wrong));
  if (auto warning = port_warning(config, ports, ready.sources.count()))
    ready.warnings.push_back(*warning);
  if (auto warning = tracking_warning(connection_tracking())) ready.warnings.push_back(*warning);
  return ready;
}

std::optional<std::string> port_warning(const Config& config, const EphemeralPorts& ports,
                                        int sources) {
  if (config.connection == Connection::kKeepAlive || config.server.is_unix()) return {};
  // The rate that a machine of a few cores can reach on loopback.
  constexpr double kMostPerSecond = 20'000;
  const double run_s = static_cast<double>(config.warmup_ms + config.seconds_ms) / 1000;
  const double by_number = makes_given_accounts(config)
                               ? config.accounts
                               : static_cast<double>(testers_of(config)) * config.requests;
  const double held =
      kMostPerSecond * (by_number > 0 ? ports.held_s : std::min<double>(ports.held_s, run_s));
  const double needed = by_number > 0 ? std::min(by_number, held) : held;
  const double in_all = static_cast<double>(ports.count) * sources;
  if (needed <= in_all) return {};
  return fmt::format(
      "there are {:.0f} local ports, and each stays in use for {} s after its connection was "
      "closed; "
      "over {:.0f} requests a second may fail with `connect`. Set net.ipv4.tcp_tw_reuse=1 and "
      "widen "
      "net.ipv4.ip_local_port_range, or use --connection keep-alive",
      in_all, ports.held_s, in_all / ports.held_s);
}

std::optional<std::string> missing_files(const Config& config) {
  if (!sends(config, RequestKind::kGet) || !config.must_verify) return {};
  const std::int64_t count = std::max({std::int64_t{1}, std::int64_t{config.files},
                                       std::int64_t{clients_of_load(config)} * config.unique});
  std::int64_t missing = 0;
  std::string first;
  SearchProgress progress;
  for (std::int64_t number = 1; number <= count; ++number) {
    progress.show(number, count);
    const std::string name = numbered(config.file, number);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(config.verify_root + "/" + name, ignored)) continue;
    if (missing++ == 0) first = name;
  }
  if (missing == 0) return {};
  return fmt::format(
      "{} of {} files that --verify needs are missing under {}; the first is {}. Make them with "
      "scripts/make-files, or lower --files, --unique, --threads or --users",
      missing, count, config.verify_root, first);
}

std::optional<std::string> tracking_warning(const ConnectionTracking& tracking) {
  if (!tracking.is_near_full()) return {};
  return fmt::format(
      "connection tracking is near full ({} of {} entries); when it is full, packets are dropped. "
      "Run servers and loadgen in their own network namespace (unshare -n, loopback up), or raise "
      "net.netfilter.nf_conntrack_max",
      tracking.entries, tracking.limit);
}

}  // namespace loadgen
