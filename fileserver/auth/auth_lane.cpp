#include "fileserver/auth/auth_lane.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "base/futex.h"

namespace fileserver {

namespace {

using Kind = AuthOutcome::Kind;

// What a question's caller is told. The first two are those of a caller that has to wait.
constexpr std::uint32_t kWaits = 0;
constexpr std::uint32_t kSleeps = 1;
constexpr std::uint32_t kAnswered = 2;
constexpr std::uint32_t kLeads = 3;
constexpr std::uint32_t kAlone = 4;  // it shall ask by itself

constexpr std::string_view kTokenVerb = "token:";

using Word = std::atomic<std::uint32_t>;
constexpr auto kOfOneProcess = base::Sleepers::kOfOneProcess;

// Sleeps while the word is kSleeps. Returns false when the time has come.
bool sleep_until(Word& word, std::int64_t time_ns) {
  while (word.load(std::memory_order_acquire) == kSleeps) {
    if (!base::sleep_while<kOfOneProcess>(word, kSleeps, time_ns)) return false;
  }
  return true;
}

}  // namespace

// It lives on its caller's stack until its state is one of the last three. Whoever sets such a
// state does not touch it again. `state` is changed to these under the mutex only.
struct AuthLane::Question {
  std::string_view line;
  Word state = kWaits;
  AuthOutcome outcome{Kind::kBroken};  // if the state is kAnswered

  // While it waits to be sent.
  Question* before = nullptr;
  Question* behind = nullptr;
};

// The callers to wake, once there is nothing more urgent to do.
class AuthLane::Wakes {
 public:
  Wakes() = default;
  ~Wakes() { wake_all(); }
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  // Sets the state, after which the question may be gone. A wake-up of an address at which nothing
  // sleeps any more does no harm.
  void add(Question& question, std::uint32_t state) {
    if (question.state.exchange(state, std::memory_order_acq_rel) != kSleeps) return;
    if (count_ == words_.size()) wake_all();
    words_[count_++] = &question.state;
  }
  void wake_all() {
    for (; done_ < count_; ++done_) base::wake<kOfOneProcess>(*words_[done_]);
    count_ = done_ = 0;
  }

 private:
  std::array<Word*, kMostTogether> words_;
  std::size_t count_ = 0;
  std::size_t done_ = 0;
};

void AuthLane::Waiting::push(Question* question) {
  question->before = last_;
  (last_ == nullptr ? first_ : last_->behind) = question;
  last_ = question;
  ++size_;
}

AuthLane::Question* AuthLane::Waiting::pop() {
  Question* const first = first_;
  if (first != nullptr) erase(first);
  return first;
}

void AuthLane::Waiting::erase(Question* question) {
  (question == first_ ? first_ : question->before->behind) = question->behind;
  (question == last_ ? last_ : question->behind->before) = question->before;
  question->before = question->behind = nullptr;
  --size_;
}

std::optional<AuthOutcome> AuthLane::ask(std::string_view line, base::Deadline answer_by) {
  Question mine{line};
  try {
    switch (enter(mine)) {
      case Entry::kNone: return {};
      case Entry::kFirst: return begin(mine, answer_by);
      case Entry::kBehind: break;
    }
    return wait(mine, answer_by);
  } catch (...) {  // only a leader does what may fail
    give_up(mine);
    throw;
  }
}

AuthLane::Entry AuthLane::enter(Question& mine) {
  if (mine.line.size() > kMostLineBytes) return Entry::kNone;
  const std::int64_t now_ns = base::now_ns();
  const base::Lock lock(mutex_);
  if (is_led_ && now_ns - asked_ns_ > limits_.old_ns) return Entry::kNone;
  waiting_.push(&mine);
  set_callers();
  if (std::exchange(is_led_, true)) return Entry::kBehind;
  asked_ns_ = now_ns;
  return Entry::kFirst;
}

std::optional<AuthOutcome> AuthLane::begin(Question& mine, base::Deadline answer_by) {
  socket_ = kept_.take_quiet();
  if (!socket_.is_open()) {
    give_up(mine);
    return {};
  }
  received_.emplace();
  {
    const base::Lock lock(mutex_);
    take_waiting();
  }
  send_waiting();
  return lead(mine, answer_by);
}

std::optional<AuthOutcome> AuthLane::wait(Question& mine, base::Deadline answer_by) {
  const std::int64_t leave_ns = base::now_ns() + limits_.patience_ms * base::kNsPerMs;
  std::uint32_t state = kWaits;
  if (mine.state.compare_exchange_strong(state, kSleeps, std::memory_order_acq_rel)) {
    state = sleep_until(mine.state, leave_ns) ? mine.state.load(std::memory_order_acquire)
                                              : leave(mine);
  }
  if (state == kAnswered) return std::move(mine.outcome);
  if (state == kLeads) return lead(mine, answer_by);
  return {};
}

// Returns the state, which may have become another one meanwhile.
std::uint32_t AuthLane::leave(Question& mine) {
  const base::Lock lock(mutex_);
  const std::uint32_t state = mine.state.load(std::memory_order_acquire);
  if (state != kSleeps) return state;
  const auto in_asked = std::find(asked_.begin(), asked_.end(), &mine);
  if (in_asked != asked_.end()) {
    *in_asked = nullptr;  // the answer will come, for nobody
  } else {
    waiting_.erase(&mine);
  }
  set_callers();
  return kAlone;
}

AuthOutcome AuthLane::lead(Question& mine, base::Deadline answer_by) {
  Wakes wakes;
  bool is_over = false;
  while (mine.state.load(std::memory_order_relaxed) != kAnswered) {
    wakes.wake_all();
    const Kind kind =
        is_sent_ ? receive_line(socket_, *received_, answer_by, false) : Kind::kBroken;
    if (kind != Kind::kAnswered) {
      note_(socket_.get(), {kind});
      give_up(mine);
      return {kind};
    }
    Replies replies = read_replies();
    if (replies.is_odd) {
      give_up(mine);
      return {Kind::kBroken};
    }
    note_(socket_.get(), replies.all.front());
    is_over = deliver(replies, wakes);
  }
  if (!is_over) {
    send_waiting();
    hand_on();
  }
  return std::move(mine.outcome);
}

AuthLane::Replies AuthLane::read_replies() {
  Replies replies;
  std::string_view line;
  std::string_view content;
  auto next = wire::LineBuffer::Next::kLine;
  while (!replies.is_odd &&
         (next = received_->next_reply(line, content)) == wire::LineBuffer::Next::kLine) {
    const auto reply = wire::parse_reply(line);
    replies.is_odd = replies.count == open_ || !goes_on(reply);
    if (!replies.is_odd)
      replies.is_odd = !fits(are_tokens_[replies.count] ? kTokenVerb : std::string_view(), reply);
    if (!replies.is_odd)
      replies.all[replies.count++] = {Kind::kAnswered, reply, false, std::string(content)};
  }
  const bool has_answered_all = replies.count == open_;
  if (next == wire::LineBuffer::Next::kTooLong || (has_answered_all && !received_->is_empty()))
    replies.is_odd = true;
  return replies;
}

// Takes the questions that wait if all others are answered. If there are none, the lane is free
// again: then this returns true, and the caller leads no more.
bool AuthLane::deliver(Replies& replies, Wakes& wakes) {
  const base::Lock lock(mutex_);
  for (std::size_t i = 0; i < replies.count; ++i) {
    Question* const question = asked_.pop();
    if (question == nullptr) continue;
    question->outcome = std::move(replies.all[i]);
    wakes.add(*question, kAnswered);
  }
  open_ -= replies.count;
  are_tokens_ >>= replies.count;
  if (open_ == 0) take_waiting();
  const bool is_over = open_ == 0;
  if (is_over) {
    kept_.put(std::move(socket_));  // before another one looks for it
    is_led_ = false;
  }
  set_callers();
  return is_over;
}

void AuthLane::take_waiting() {
  asked_.clear();
  while (asked_.size() < kMostTogether && waiting_.size() > 0) {
    Question* const question = waiting_.pop();
    are_tokens_[asked_.size()] = question->line.starts_with(kTokenVerb);
    asked_.push(question);
    text_size_ += question->line.copy(text_.data() + text_size_, text_.size() - text_size_);
  }
  open_ = asked_.size();
  asked_ns_ = base::now_ns();
}

void AuthLane::send_waiting() {
  if (text_size_ == 0) return;
  is_sent_ = socket_.send_all({text_.data(), text_size_});
  ::explicit_bzero(text_.data(), text_size_);
  text_size_ = 0;
}

// The caller leads no more. The order of the locals is that of give_up().
void AuthLane::hand_on() {
  tls::Socket closed;
  Wakes wakes;
  const base::Lock lock(mutex_);
  const auto next = std::find_if(asked_.begin(), asked_.end(),
                                 [](const Question* question) { return question != nullptr; });
  if (is_sent_ && next != asked_.end()) {
    wakes.add(**next, kLeads);
  } else {
    closed = dissolve(nullptr, wakes);
  }
}

// The locals are destroyed from the last to the first: the lock is released, then the others are
// woken, then the connection is closed.
void AuthLane::give_up(const Question& mine) {
  tls::Socket closed;
  Wakes wakes;
  const base::Lock lock(mutex_);
  closed = dissolve(&mine, wakes);
}

// Frees the lane. All callers except `mine` ask by themselves. Returns the connection, which the
// caller closes.
tls::Socket AuthLane::dissolve(const Question* mine, Wakes& wakes) {
  const auto tell = [&](Question* question) {
    if (question != nullptr && question != mine) wakes.add(*question, kAlone);
  };
  for (Question* const question : asked_) tell(question);
  asked_.clear();
  while (Question* const question = waiting_.pop()) tell(question);
  ::explicit_bzero(text_.data(), text_size_);
  text_size_ = 0;
  open_ = 0;
  is_led_ = false;
  set_callers();
  return std::move(socket_);
}

void AuthLane::set_callers() {
  callers_.store(asked_.size() + waiting_.size(), std::memory_order_relaxed);
}

}  // namespace fileserver
