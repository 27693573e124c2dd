// What the user decides about a run, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "flags/settings.h"
#include "loadgen/config/channels.h"
#include "loadgen/config/crowd.h"
#include "loadgen/config/share.h"
#include "loadgen/config/think.h"
#include "net/address.h"

namespace loadgen {

enum class RequestKind {
  kNew,  // make an account
  kGet,  // log in and get a file
  kPut,  // log in and send a file; not with the native protocol
};
inline constexpr std::size_t kRequestKinds = 3;

// How often each kind is drawn, compared with the others, by index_of().
using Mix = std::array<int, kRequestKinds>;

enum class Protocol {
  kNative,  // docs/protocol.md
  kHttp,
  kFtp,
};

// How an FTP client learns the port for the file.
enum class FtpData {
  kEpsv,  // RFC 2428; PASV for a server that does not know it
  kPasv,  // RFC 959
};

enum class Connection {
  kPerRequest,  // a new connection for each request
  kKeepAlive,   // one connection per thread
};

// The gaps between the requests of an open loop.
enum class ArrivalKind {
  kFixed,    // all equal
  kPoisson,  // as those of many users who do not know of each other
};

// When the threads of a closed loop ask for their files.
enum class Release {
  kRequest,   // each when its request before has ended
  kTransfer,  // all in the same moment, round by round: a burst
};

// What decides when a thread sends its next request.
enum class RunKind {
  kClosed,  // it has the reply to the one before
  kOpen,    // a schedule
  kBurst,   // all threads together, round by round
  kCrowd,   // many users on few threads, each at its own pace
};

struct Config {
  RequestKind request = RequestKind::kGet;
  Mix mix = {};  // all 0: each request is a `request`; otherwise that is kGet, and does not count
  Protocol protocol = Protocol::kNative;
  net::HostPort server{"127.0.0.1", 9000};
  int threads = 1;           // with users: as many as there are cores, unless they are given
  bool has_threads = false;  // --threads was given
  int users = 0;             // that share the threads; 0: each thread sends its own requests

  // Which of the threads, or of the users, of a load are those of this run. Once the flags are
  // read, `threads` and `users` are how many these are, and `load_clients` how many there are in
  // the whole load. 0: no more than in this run.
  Share share = {};
  int load_clients = 0;

  // The length of the run. `requests` is for each thread; if it is not 0, `seconds_ms` is not used.
  std::int64_t seconds_ms = 10'000;
  int requests = 0;
  bool has_seconds = false;  // --seconds was given
  std::int64_t warmup_ms = 0;

  // Of a closed loop: how long each thread sends requests. 0: as long as the run. See ramp.h.
  std::int64_t life_ms = 0;

  ThinkTime think;  // of a closed loop: the pause before each request of a thread

  double start_at_unix_s = 0;  // when the run begins; 0: at once

  // The requests that become due in a second. 0: no schedule.
  double rate_rps = 0;
  ArrivalKind arrivals = ArrivalKind::kFixed;
  int seed = 1;  // of all that is drawn at random

  std::optional<net::HostPort> telemetry;  // of the server, whose counters are compared

  crowd::Options crowd;
  ChannelOptions channels;

  Release release = Release::kRequest;
  std::string hold;  // of a burst: the control group that is held while all ask; empty: none

  Connection connection = Connection::kPerRequest;  // of a crowd it is always kKeepAlive
  FtpData ftp_data = FtpData::kEpsv;

  // Only of threads without users and channels, for new and get over the native protocol and HTTP.
  bool is_encrypted = false;  // the connections are in TLS
  std::string tls_ca;         // the authorities that are believed; empty: those of the system
  bool believes_anybody = false;
  bool resumes = true;  // a new connection resumes an earlier one of its thread

  bool is_pipelined = false;         // native: send `get:` and the file name in one write
  std::int64_t timeout_ms = 30'000;  // for one request

  // `accounts` is the number of accounts that %d in the user and the password stands for.
  std::string user;
  std::string password;
  int accounts = 1;

  // Of get, it contains %d exactly if `unique` or `files` is not 0. Of put: where all uploads go,
  // with the number of the client, from 1, for %d; empty: each has a name that no other run uses.
  std::string file;

  // Only for get.
  int unique = 0;            // the number of files of each thread; 0: all get the same file
  int files = 0;             // the number of files of which each request draws one; 0: none does
  double zipf = 0;           // the exponent of their popularity; 0: all are alike
  bool asks_once = false;    // end the run when a thread has asked for all its files
  bool must_verify = false;  // compare every file with its copy in `verify_root`
  std::string verify_root;
  std::string save;  // the folder in which received files are saved; empty: not saved

  std::int64_t size_bytes = 0;  // only for put: the size of the files

  std::string transfers;     // where the record of each transfer goes; empty: nowhere
  std::string series;        // where a line for each second goes; empty: nowhere
  std::string json;          // where the result goes; empty: nowhere, "-": standard output
  std::string distribution;  // where the distribution of the response times goes, the same

  std::vector<flags::Setting> settings;  // all flags but the password, for the result
};

constexpr std::size_t index_of(RequestKind request) { return static_cast<std::size_t>(request); }

// Whether the kind of each request is drawn.
bool is_mixed(const Config& config);

// Whether there are requests of this kind in the run.
bool sends(const Config& config, RequestKind request);

// Whether this is a run of new that makes the accounts that --user names, each once, and then ends.
bool makes_given_accounts(const Config& config);

// Whether all uploads go to the name that --file gives, and not each to one of its own.
bool puts_given_file(const Config& config);

RunKind kind_of(const Config& config);

// Whether the loop is open: requests are sent by a schedule.
bool is_open_loop(const Config& config);

// Whether this is a run of many users on few threads.
bool is_crowd(const Config& config);

// Whether this is a run in which all threads ask for their files in the same moment.
bool is_burst(const Config& config);

// Whether more is noted of each transfer: Exchange::asked_ns, file_end_ns, sent_ns and cpu_ns.
bool notes_transfers(const Config& config);

// Whether each thread has many users, and this is no crowd.
bool has_users(const Config& config);

// How many requests can be under way at a time: the N of N = X*R. Each has a connection.
int testers_of(const Config& config);

// The same of the whole load, of which other testers may send a part.
int clients_of_load(const Config& config);

// The number that a thread, or a user, of this run has among those of the whole load. Both count
// from 0. It decides about all that one client has and another one has not: moments, accounts,
// files and addresses.
int number_in_load(const Config& config, int client);

// Whether a file comes by several connections, or by one of several requests.
bool has_channels(const Config& config);

// How many sockets each of them needs at once.
unsigned sockets_of(const Config& config);

// Whether the run ends when a number of requests was carried out, and not at a time. Not of a
// crowd.
bool ends_by_number(const Config& config);

// The words that the command line and the reports use.
const char* word_of(RequestKind request);
const char* word_of(Protocol protocol);
const char* word_of(Connection connection);
const char* word_of(FtpData data);
const char* word_of(ArrivalKind arrivals);
const char* word_of(Release release);

// Reads the command line, the environment and the --config file.
//
// Returns an exit status instead if the program must end at once. That is after --help and
// --version, which were printed, and after wrong usage, which was reported on standard error.
std::variant<Config, int> read_config(int argc, char** argv);

}  // namespace loadgen
