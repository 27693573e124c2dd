#include "loadgen/config/checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <variant>

#include "base/log.h"
#include "loadgen/config/numbered.h"
#include "loadgen/config/ramp.h"
#include "wire/line_buffer.h"
#include "wire/request.h"

namespace loadgen {

namespace {

using Wrong = std::optional<std::string>;

// Checks the longest user name and password that the run will send.
Wrong check_credentials(const Config& config) {
  const char* const who = is_mixed(config) ? "--mix" : word_of(config.request);
  if (config.user.empty()) return fmt::format("{} needs --user", who);
  if (!wire::is_valid_user(numbered(config.user, config.accounts))) {
    return fmt::format("--user: {} is not 1 to 64 bytes of A-Z a-z 0-9 . _ - @ +",
                       base::log::quoted(config.user));
  }
  if (config.password.empty()) {
    return fmt::format("{} needs --password, or the variable LOADGEN_PASSWORD",
                       config.request == RequestKind::kNew ? "new with --user" : who);
  }
  if (!wire::is_valid_password(numbered(config.password, config.accounts)))
    return "--password: a password has 1 to 128 bytes, none of them a control byte";
  return {};
}

Wrong check_accounts(const Config& config) {
  const bool sends_them = sends(config, RequestKind::kGet) || sends(config, RequestKind::kPut) ||
                          makes_given_accounts(config);
  return sends_them ? check_credentials(config) : Wrong();
}

Wrong check_native_name(const std::string& longest) {
  const bool is_name = std::holds_alternative<wire::FileName>(wire::parse_client_line(longest));
  if (!is_name || longest.size() >= wire::kMaxLineBytes) {
    return fmt::format(
        "--file: {} cannot be requested; a name has at most {} bytes, no control bytes, and does "
        "not look like another request",
        base::log::quoted(longest), wire::kMaxLineBytes - 1);
  }
  return {};
}

// The server decides what else is no name. Of the bytes of a target, at most three are needed for
// one of the name.
Wrong check_http_name(const std::string& longest) {
  constexpr std::size_t kMaxNameBytes = 2'700;
  if (longest.size() <= kMaxNameBytes) return {};
  return fmt::format("--file: {} cannot be requested; a name has at most {} bytes",
                     base::log::quoted(longest), kMaxNameBytes);
}

// Of the names that the run uses, that with the largest number is the longest.
Wrong check_name(const Config& config, std::int64_t largest) {
  const std::string longest = numbered(config.file, largest);
  return config.protocol == Protocol::kHttp ? check_http_name(longest) : check_native_name(longest);
}

Wrong check_file(const Config& config) {
  if (config.file.empty()) return "get needs --file";
  if (config.files > 0 && config.unique > 0)
    return "--files and --unique both say which numbers %d in --file stands for; use one of them";
  if (has_number(config.file) && config.unique == 0 && config.files == 0)
    return "--file: a name with %d needs --unique or --files";
  return check_name(config, std::max(std::int64_t{testers_of(config)} * config.unique,
                                     std::int64_t{config.files}));
}

Wrong check_save(const Config& config) {
  if (config.save.empty()) return {};
  for (const auto& part : std::filesystem::path(config.file)) {
    if (part == "..") return "--save: the name in --file contains `..` and would leave the folder";
  }
  return {};
}

Wrong check_get(const Config& config) {
  if (Wrong wrong = check_file(config)) return wrong;
  if (config.must_verify && config.verify_root.empty()) return "--verify needs --verify-root";
  return check_save(config);
}

Wrong check_protocol(const Config& config) {
  if (sends(config, RequestKind::kPut) && config.protocol == Protocol::kNative)
    return "put needs --protocol http or ftp";
  if (config.protocol == Protocol::kFtp) {
    if (sends(config, RequestKind::kNew)) return "new needs --protocol native or http";
    if (config.server.is_unix()) return "--protocol ftp needs a server with a port";
    if (config.accounts > 1 && config.connection == Connection::kKeepAlive)
      return "--accounts needs --connection per-request with ftp: a connection logs in once";
  }
  return {};
}

Wrong check_tls(const Config& config) {
  if (!config.is_encrypted) return {};
  if (config.server.is_unix()) return "--tls needs a server with a port";
  if (config.believes_anybody && !config.tls_ca.empty())
    return "--tls-ca and --tls-insecure exclude each other";
  return {};
}

Wrong check_crowd(const Config& config) {
  if (!is_crowd(config)) return {};
  if (config.users == 0) return "--pace needs --users, who read so many bytes a second";
  if (crowd::ends_by_time(config.crowd) &&
      config.seconds_ms <= crowd::ramp_ms_of(config.crowd, config.seconds_ms))
    return "--users needs --seconds that are longer than --ramp, in which they are started";
  const std::int64_t buffer_bytes = config.crowd.receive_buffer_bytes;
  constexpr std::int64_t kMostBufferBytes = std::int64_t{1} << 30;
  if (buffer_bytes < 1 || buffer_bytes > kMostBufferBytes)
    return "--receive-buffer: from 1 byte to 1G";
  return {};
}

Wrong check_burst(const Config& config) {
  if (!is_burst(config)) return {};
  constexpr int kMostRounds = 100'000;
  if (config.requests == 0) return "--release transfer needs --requests, the number of rounds";
  if (config.requests > kMostRounds) {
    return fmt::format("--release transfer takes at most {} --requests", kMostRounds);
  }
  return {};
}

Wrong check_channels(const Config& config) {
  if (!has_channels(config)) return {};
  const std::int64_t least_bytes = least_pool_bytes(config.channels);
  constexpr std::int64_t kMostPoolBytes = std::int64_t{1} << 40;
  if (config.channels.pool_bytes >= least_bytes && config.channels.pool_bytes <= kMostPoolBytes)
    return {};
  return fmt::format("--pool: from {}K to 1T with {} channels", least_bytes >> 10,
                     config.channels.count);
}

Wrong check_outputs(const Config& config) {
  const std::array<std::pair<const char*, const std::string&>, 4> outputs{
      {{"--distribution", config.distribution},
       {"--series", config.series},
       {"--transfers", config.transfers},
       {"--json", config.json}}};
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    const auto same = std::find_if(one + 1, outputs.end(), [&](const auto& other) {
      return !one->second.empty() && other.second == one->second;
    });
    if (same != outputs.end())
      return fmt::format("{} and {} need different files", one->first, same->first);
  }
  return {};
}

Wrong check_ramp(const Config& config) {
  if (!is_ramp(config)) return {};
  const Ramp ramp(config);
  if (ramp.plateau_end_ns() > ramp.start_ns(config.threads)) return {};
  return config.life_ms > 0 && !config.has_seconds
             ? "--life has to be longer than --ramp, or there is no time in which all threads run"
             : "--seconds and --life have to be longer than --ramp, or there is no time in which "
               "all threads run";
}

Wrong check_share(const Config& config) {
  const int clients = testers_of(config);
  if (config.share.count_of(clients) > 0) return {};
  return fmt::format("--share: tester {} of {} has nothing to do, because {} is {}",
                     config.share.part + 1, config.share.parts,
                     config.users > 0 ? "--users" : "--threads", clients);
}

Wrong check_mix(const Config& config) {
  if (!is_mixed(config)) return {};
  if (sends(config, RequestKind::kGet) || sends(config, RequestKind::kPut)) return {};
  return "--mix needs get or put beside new; `loadgen new` makes accounts alone";
}

}  // namespace

std::optional<std::string> what_is_wrong_with(const Config& config) {
  if (Wrong wrong = check_burst(config)) return wrong;
  if (Wrong wrong = check_outputs(config)) return wrong;
  if (Wrong wrong = check_ramp(config)) return wrong;
  if (Wrong wrong = check_share(config)) return wrong;
  if (Wrong wrong = check_crowd(config)) return wrong;
  if (Wrong wrong = check_channels(config)) return wrong;
  if (Wrong wrong = check_mix(config)) return wrong;
  if (Wrong wrong = check_protocol(config)) return wrong;
  if (Wrong wrong = check_tls(config)) return wrong;
  if (Wrong wrong = check_accounts(config)) return wrong;
  if (sends(config, RequestKind::kPut) && config.size_bytes == 0)
    return "put needs --size, which is at least 1";
  if (puts_given_file(config)) return check_name(config, testers_of(config));
  return sends(config, RequestKind::kGet) ? check_get(config) : Wrong();
}

}  // namespace loadgen
