#include "loadgen/config/config.h"

#include <algorithm>

namespace loadgen {

bool is_mixed(const Config& config) { return config.mix != Mix{}; }

bool sends(const Config& config, RequestKind request) {
  return is_mixed(config) ? config.mix[index_of(request)] > 0 : config.request == request;
}

bool makes_given_accounts(const Config& config) {
  return config.request == RequestKind::kNew && !config.user.empty();
}

bool puts_given_file(const Config& config) {
  return config.request == RequestKind::kPut && !config.file.empty();
}

bool is_open_loop(const Config& config) { return config.rate_rps > 0 && !is_crowd(config); }

bool is_crowd(const Config& config) { return config.crowd.pace_bytes_s > 0; }

bool has_users(const Config& config) { return config.users > 0 && !is_crowd(config); }

bool is_burst(const Config& config) { return config.release == Release::kTransfer; }

RunKind kind_of(const Config& config) {
  if (is_crowd(config)) return RunKind::kCrowd;
  if (is_burst(config)) return RunKind::kBurst;
  return is_open_loop(config) ? RunKind::kOpen : RunKind::kClosed;
}

bool notes_transfers(const Config& config) { return is_burst(config) || !config.transfers.empty(); }

int testers_of(const Config& config) { return config.users > 0 ? config.users : config.threads; }

int clients_of_load(const Config& config) {
  return std::max(config.load_clients, testers_of(config));
}

int number_in_load(const Config& config, int client) {
  return config.share.number_of(static_cast<std::uint32_t>(client));
}

bool has_channels(const Config& config) { return config.channels.count > 0; }

unsigned sockets_of(const Config& config) {
  const auto connections = static_cast<unsigned>(std::max(config.channels.count, 1));
  return config.protocol == Protocol::kFtp ? 2 * connections : connections;
}

bool ends_by_number(const Config& config) {
  return config.requests > 0 || makes_given_accounts(config);
}

const char* word_of(RequestKind request) {
  switch (request) {
    case RequestKind::kNew: return "new";
    case RequestKind::kGet: return "get";
    case RequestKind::kPut: return "put";
  }
  return "";
}

const char* word_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kNative: return "native";
    case Protocol::kHttp: return "http";
    case Protocol::kFtp: return "ftp";
  }
  return "";
}

const char* word_of(Connection connection) {
  return connection == Connection::kPerRequest ? "per-request" : "keep-alive";
}

const char* word_of(FtpData data) { return data == FtpData::kEpsv ? "epsv" : "pasv"; }

const char* word_of(ArrivalKind arrivals) {
  return arrivals == ArrivalKind::kPoisson ? "poisson" : "fixed";
}

const char* word_of(Release release) {
  return release == Release::kTransfer ? "transfer" : "request";
}

}  // namespace loadgen
