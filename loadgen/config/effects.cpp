#include "loadgen/config/effects.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <span>
#include <utility>

#include "loadgen/config/numbered.h"

namespace loadgen {

namespace {

// Sets of values are bits.
template <typename Value>
constexpr unsigned bit(Value value) {
  return 1U << static_cast<unsigned>(value);
}

constexpr unsigned kAll = ~0U;

constexpr unsigned kNew = bit(RequestKind::kNew);
constexpr unsigned kGet = bit(RequestKind::kGet);
constexpr unsigned kPut = bit(RequestKind::kPut);

constexpr unsigned kNative = bit(Protocol::kNative);
constexpr unsigned kFtp = bit(Protocol::kFtp);

constexpr unsigned kClosed = bit(RunKind::kClosed);
constexpr unsigned kOpen = bit(RunKind::kOpen);
constexpr unsigned kBurst = bit(RunKind::kBurst);
constexpr unsigned kCrowd = bit(RunKind::kCrowd);

// What a flag needs beside a kind of run.
struct Need {
  const char* what = nullptr;  // nullptr: nothing
  bool (*is_met)(const Config&) = nullptr;
};

constexpr Need kNumberInFile{"%d in --file", [](const Config& c) { return has_number(c.file); }};
constexpr Need kNumberInUser{"%d in --user", [](const Config& c) { return has_number(c.user); }};
constexpr Need kUnique{"--unique", [](const Config& c) { return c.unique > 0; }};
constexpr Need kVerify{"--verify", [](const Config& c) { return c.must_verify; }};
constexpr Need kCredentials{"get, put, or new with --user", [](const Config& c) {
                              return c.request != RequestKind::kNew || !c.user.empty();
                            }};
constexpr Need kNoGivenAccounts{"get, put, or new without --user",
                                [](const Config& c) { return !makes_given_accounts(c); }};
constexpr Need kOneOrNumbered{
    "%d in --user and --accounts COUNT, because new makes an account only once",
    [](const Config& c) {
      return !makes_given_accounts(c) || has_number(c.user) ||
             testers_of(c) * std::int64_t{c.requests} == 1;
    }};
constexpr Need kNamedFile{"get, or put without --mix", [](const Config& c) {
                            return sends(c, RequestKind::kGet) || c.request == RequestKind::kPut;
                          }};
constexpr Need kWordGet{"get, whatever kinds the mix has",
                        [](const Config& c) { return c.request == RequestKind::kGet; }};
constexpr Need kFiles{"--files", [](const Config& c) { return c.files > 0; }};
constexpr Need kTls{"--tls", [](const Config& c) { return c.is_encrypted; }};
constexpr Need kSigio{"--engine sigio",
                      [](const Config& c) { return c.crowd.engine == crowd::EngineKind::kSigio; }};

constexpr Need kNoUsers{"get without --mix and without --users",
                        [](const Config& c) { return !is_mixed(c) && c.users == 0; }};
constexpr Need kPooled{"--channels, and not --write in-place", [](const Config& c) {
                         return has_channels(c) && c.channels.write == Write::kInOrder;
                       }};
constexpr Need kSavedByChannels{"--channels and --save",
                                [](const Config& c) { return has_channels(c) && !c.save.empty(); }};
constexpr Need kNoChannels{"a run without --channels, whose requests are many for each file",
                           [](const Config& c) { return !has_channels(c); }};

constexpr Need kByTime{
    "a run by time, without --requests, --warmup and --users", [](const Config& c) {
      const bool is_plain = !ends_by_number(c) && c.warmup_ms == 0 && c.users == 0;
      return is_crowd(c) || is_plain;
    }};

struct Row {
  std::string_view flag;
  unsigned requests = kAll;
  unsigned protocols = kAll;
  unsigned kinds = kAll;
  Need need = {};
};

// Those that decide the kind of run come first.
constexpr Row kRows[] = {
    {"--mix", kAll, kAll, kClosed | kOpen, kWordGet},
    {"--users", kAll, kAll, kClosed | kOpen | kCrowd},
    {"--release", kGet, kAll, kClosed | kBurst},
    {"--rate", kAll, kAll, kOpen, kNoGivenAccounts},
    {"--channels", kGet, bit(Protocol::kHttp) | kFtp, kClosed | kOpen, kNoUsers},

    {"--tls", kAll, kNative | bit(Protocol::kHttp), kClosed | kOpen | kBurst},

    {"--server"},
    {"--protocol"},
    {"--user"},
    {"--password", kAll, kAll, kAll, kCredentials},
    {"--threads"},
    {"--file", kGet | kPut, kAll, kAll, kNamedFile},
    {"--unique", kGet, kAll, kAll, kNumberInFile},
    {"--once", kGet, kAll, kClosed | kBurst, kUnique},
    {"--size", kPut},
    {"--accounts", kAll, kAll, kAll, kNumberInUser},
    {"--verify", kGet, kAll, kClosed | kOpen | kBurst},
    {"--verify-root", kGet, kAll, kClosed | kOpen | kBurst, kVerify},
    {"--save", kGet, kAll, kClosed | kOpen | kBurst},
    {"--think", kAll, kAll, kClosed},
    {"--seconds", kAll, kAll, kClosed | kOpen | kCrowd},
    {"--requests", kAll, kAll, kClosed | kBurst, kOneOrNumbered},
    {"--warmup", kAll, kAll, kClosed | kOpen},
    {"--life", kAll, kAll, kClosed, kByTime},
    {"--start-at"},
    {"--share", kAll, kAll, kClosed, kNoGivenAccounts},
    {"--timeout"},
    {"--telemetry", kAll, kNative | bit(Protocol::kHttp), kAll, kNoChannels},
    {"--json"},
    {"--transfers", kGet | kPut, kAll, kClosed | kOpen | kBurst},
    {"--series"},
    {"--distribution", kAll, kAll, kClosed | kOpen | kBurst},
    {"--arrivals", kAll, kAll, kOpen},
    {"--files", kGet, kAll, kClosed | kOpen | kBurst, kNumberInFile},
    {"--popularity", kGet, kAll, kClosed | kOpen | kBurst, kFiles},
    {"--seed"},
    {"--connection", kAll, kAll, kClosed | kOpen | kBurst},
    {"--pipeline", kGet, kNative, kClosed | kOpen | kCrowd},
    {"--ftp-data", kAll, kFtp},
    {"--tls-ca", kAll, kAll, kAll, kTls},
    {"--tls-insecure", kAll, kAll, kAll, kTls},
    {"--tls-resume", kAll, kAll, kAll, kTls},
    {"--pool", kGet, kAll, kAll, kPooled},
    {"--write", kGet, kAll, kAll, kSavedByChannels},
    {"--hold", kGet, kAll, kBurst},
    {"--pace", kGet, kAll, kCrowd},
    {"--ramp", kAll, kAll, kClosed | kCrowd, kByTime},
    {"--until-stable", kGet, kAll, kCrowd},
    {"--receive-buffer", kGet, kAll, kCrowd},
    {"--least-rate", kGet, kAll, kCrowd},
    {"--too-slow", kGet, kAll, kCrowd},
    {"--engine", kGet, kAll, kCrowd},
    {"--signal-queue", kGet, kAll, kCrowd, kSigio},
};

// The kinds of request in the run.
unsigned sent_by(const Config& config) {
  unsigned kinds = 0;
  for (const RequestKind kind : {RequestKind::kNew, RequestKind::kGet, RequestKind::kPut})
    if (sends(config, kind)) kinds |= bit(kind);
  return kinds;
}

const Row* row_of(std::string_view flag) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [flag](const Row& row) { return row.flag == flag; });
  return found == std::end(kRows) ? nullptr : found;
}

using Word = std::pair<unsigned, const char*>;

constexpr std::array kRequestWords = {Word{kNew, "new"}, Word{kGet, "get"}, Word{kPut, "put"}};
constexpr std::array kProtocolWords = {Word{kNative, "--protocol native"},
                                       Word{bit(Protocol::kHttp), "--protocol http"},
                                       Word{kFtp, "--protocol ftp"}};
constexpr std::array kKindWords = {
    Word{kClosed, "a closed loop"}, Word{kOpen, "an open loop (--rate)"},
    Word{kBurst, "a burst (--release transfer)"}, Word{kCrowd, "a crowd (--users with --pace)"}};

// "get or put"
std::string one_of(unsigned set, std::span<const Word> words) {
  std::string text;
  for (const auto& [value, word] : words) {
    if ((set & value) != 0) text += (text.empty() ? "" : " or ") + std::string(word);
  }
  return text;
}

// What the row needs and the run does not have. Empty: nothing.
std::string missing(const Row& row, const Config& config) {
  if ((row.requests & sent_by(config)) == 0) return one_of(row.requests, kRequestWords);
  if ((row.protocols & bit(config.protocol)) == 0) return one_of(row.protocols, kProtocolWords);
  if ((row.kinds & bit(kind_of(config))) == 0) return one_of(row.kinds, kKindWords);
  return row.need.what == nullptr || row.need.is_met(config) ? "" : row.need.what;
}

// A name in the environment is whom get logs in as. Only one with a mark, or one on the command
// line, names the accounts that new shall make.
void forget_user_of_get(flags::App& app, const Config& config) {
  flags::Option* const user = app.find("--user");
  if (user == nullptr || user->is_on_command_line) return;
  if (config.request == RequestKind::kNew && !has_number(config.user)) user->forget();
}

// A file in the environment is one that get asks for. An upload would replace it.
void forget_file_of_get(flags::App& app, const Config& config) {
  flags::Option* const file = app.find("--file");
  if (file == nullptr || file->is_on_command_line) return;
  if (config.request == RequestKind::kPut) file->forget();
}

}  // namespace

bool knows_effect_of(std::string_view flag) { return row_of(flag) != nullptr; }

std::optional<std::string> why_without_effect(std::string_view flag, const Config& config) {
  const Row* const row = row_of(flag);
  assert(row != nullptr);
  const std::string needed = missing(*row, config);
  if (needed.empty()) return {};
  const std::string kind = one_of(bit(kind_of(config)), kKindWords);
  const bool is_about_itself = needed.find(flag) != std::string::npos;
  return std::string(flag) + " has no effect in " +
         (is_about_itself ? kind : "this run: it needs " + needed);
}

std::optional<std::string> settle_effects(flags::App& app, const Config& config) {
  forget_user_of_get(app, config);
  forget_file_of_get(app, config);
  for (const Row& row : kRows) {
    flags::Option* const option = app.find(row.flag);
    if (option == nullptr || missing(row, config).empty()) continue;
    if (option->is_on_command_line) return why_without_effect(row.flag, config);
    if (option->given || option->is_switch()) option->forget();
  }
  return {};
}

}  // namespace loadgen
