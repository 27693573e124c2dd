#include "loadgen/loops/users/loop.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace loadgen::users {

namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::int64_t kMostWaitNs = 100 * base::kNsPerMs;  // so that the end of a run is noticed

// More than these might not fit into the queue in which a server's connections wait.
constexpr int kMostConnecting = 64;

}  // namespace

UserLoop::UserLoop(const Shared& shared, Share share)
    : Loop(shared.config),
      shared_(shared),
      config_(shared.config),
      control_(shared.control),
      share_(share),
      buffer_(kBufferBytes),
      tools_{.config = shared.config,
             .servers = shared.ready.servers,
             .sources = shared.ready.sources,
             .series = recorder_.series(),
             .users = static_cast<std::uint32_t>(share.count_of(shared.config.users)),
             .buffer = buffer_,
             .tls = shared.ready.tls.get()} {
  if (tools_.tls != nullptr) tools_.handshakes.emplace();
  if (is_mixed(config_)) recorder_.tell_kinds_apart();
}

void UserLoop::prepare() {
  auto engine = open_engine(crowd::EngineKind::kEpoll, tools_.users * sockets_of(config_));
  if (!engine) return note(engine.error().context);
  tools_.engine = std::move(*engine);
  for (std::uint32_t number = 0; number < tools_.users; ++number)
    users_.emplace_back(shared_, tools_, number_in_load(config_, share_.number_of(number)), number);
  connect_all();
}

// A connection that cannot be made here is tried again by the first request.
void UserLoop::connect_all() {
  std::size_t begun = 0;
  int connecting = 0;
  const auto settle_one = [&](EventClient& client, EventClient::State state) {
    if (state == EventClient::State::kPauses) client.run_out_of_time();
    if (!client.is_under_way()) --connecting;
  };
  while ((begun < users_.size() || connecting > 0) && !control_.must_stop() && !tools_.failure) {
    for (; begun < users_.size() && connecting < kMostConnecting; ++begun) {
      ++connecting;
      settle_one(users_[begun].client, users_[begun].client.prepare());
    }
    if (connecting == 0) continue;
    wait_for_users(INT64_MAX);
    for (const std::uint32_t number : ready_) {
      EventClient& client = users_[user_of(number)].client;
      if (client.is_under_way()) settle_one(client, client.go_on());
    }
    if (ready_.empty()) connecting -= give_up_late_ones(begun);
  }
  for (User& one : users_)
    if (one.client.is_under_way()) one.client.run_out_of_time();
  note(tools_.failure);
}

// Of the first users, those that have connected for too long. Returns how many they were.
int UserLoop::give_up_late_ones(std::size_t begun) {
  const std::int64_t now_ns = base::now_ns();
  int given_up = 0;
  for (std::size_t number = 0; number < begun; ++number) {
    EventClient& client = users_[number].client;
    if (!client.is_under_way() || now_ns <= client.deadline_ns()) continue;
    client.run_out_of_time();
    ++given_up;
  }
  return given_up;
}

void UserLoop::carry_load(RunControl& control) {
  send_requests(control);
  for (User& one : users_) {
    recorder_.count_connections(one.client.connections(), one.client.reconnects());
    one.transfers.flush();
  }
  if (tools_.handshakes) recorder_.set_handshakes(*tools_.handshakes);
  users_.clear();
}

void UserLoop::wake_at(User& one, std::int64_t moment_ns) {
  one.wakes_ns = moment_ns;
  timers_.emplace(moment_ns, one.number);
}

void UserLoop::begin(User& one, const Request& request) {
  one.request = request;
  ++under_way_;
  recorder_.begin_request();
  settle(one, one.client.begin(one.request, one.counts));
}

void UserLoop::settle(User& one, EventClient::State state) {
  switch (state) {
    case EventClient::State::kDone: return ended_.push_back(&one);
    case EventClient::State::kMore:
      if (!std::exchange(one.is_queued, true)) more_.push_back(&one);
      return;
    case EventClient::State::kPauses: return wake_at(one, one.client.resumes_ns());
    case EventClient::State::kWaits: return;
  }
}

void UserLoop::turn(std::int64_t until_ns) {
  wait_for_users(until_ns);
  for (const std::uint32_t number : ready_) go_on(users_[user_of(number)]);
  go_on_with_more();
  go_on_with_timers();
  look_for_late();
  for (const std::vector<User*> done = std::exchange(ended_, {}); User* const one : done)
    finish(*one);
  note(tools_.failure);
}

// A user that is done begins its next request before the others go on, so that no time passes
// between its requests.
void UserLoop::go_on(User& one) {
  if (!one.client.is_under_way()) return;
  const EventClient::State state = one.client.go_on();
  return state == EventClient::State::kDone ? finish(one) : settle(one, state);
}

void UserLoop::finish(User& one) {
  one.wakes_ns = 0;
  --under_way_;
  ++one.sent;
  recorder_.end_request(one.client.exchange());
  note(one.client.save_failure());
  ended(one);
}

void UserLoop::wait_for_users(std::int64_t until_ns) {
  const std::int64_t now_ns = base::now_ns();
  std::int64_t next_ns = std::min(until_ns, now_ns + kMostWaitNs);
  if (!timers_.empty()) next_ns = std::min(next_ns, timers_.top().first);
  if (under_way_ > 0) next_ns = std::min(next_ns, next_look_ns_);
  if (!more_.empty() || !ended_.empty()) next_ns = now_ns;
  ready_.clear();
  const auto waited = tools_.engine->wait(std::max<std::int64_t>(0, next_ns - now_ns), ready_);
  if (!waited && !tools_.failure) tools_.failure = waited.error().context;
  for (const std::uint32_t number : ready_)
    users_[user_of(number)].client.note_ready(number >= tools_.users);
}

void UserLoop::go_on_with_more() {
  for (const std::vector<User*> more = std::exchange(more_, {}); User* const one : more) {
    one->is_queued = false;
    go_on(*one);
  }
}

void UserLoop::go_on_with_timers() {
  const std::int64_t until_ns = cuts_pauses() ? INT64_MAX : base::now_ns();
  std::vector<Timer> due;
  for (; !timers_.empty() && timers_.top().first <= until_ns; timers_.pop())
    due.push_back(timers_.top());
  for (const auto& [moment_ns, number] : due) {
    User& one = users_[number];
    if (one.wakes_ns != moment_ns) continue;  // a request that ended without it
    one.wakes_ns = 0;
    one.client.is_under_way() ? go_on(one) : woke(one);
  }
}

// A request takes at most its time-out and a sixteenth more.
void UserLoop::look_for_late() {
  const std::int64_t now_ns = base::now_ns();
  if (now_ns < next_look_ns_) return;
  next_look_ns_ =
      now_ns + std::clamp(config_.timeout_ms * base::kNsPerMs / 16, base::kNsPerMs, kMostWaitNs);
  for (User& one : users_) {
    if (!one.client.is_under_way() || now_ns <= one.client.deadline_ns()) continue;
    one.client.run_out_of_time();
    finish(one);
  }
}

void UserLoop::note(const std::optional<std::string>& failure) {
  if (!failure || failure_) return;
  failure_ = failure;
  control_.stop(End::kFailed);
}

void UserLoop::note_transfer(User& one) {
  if (one.request.kind == RequestKind::kNew) return;  // it moves no file
  if (!one.transfers.add(one.request.file_name, one.client.exchange())) control_.stop(End::kFailed);
}

}  // namespace loadgen::users
