#include "fileserver/auth/auth_pipeline.h"

#include <string.h>
#include <sys/epoll.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/completes.h"

namespace fileserver {

using Kind = AuthOutcome::Kind;

namespace {

constexpr std::string_view kVerbOfTokens = "token:";

// Never more, so that no copy is left in memory that was given back.
constexpr std::size_t kMostTextBytes = std::size_t{32} << 10;

}  // namespace

AuthPipeline::AuthPipeline(events::Loop& loop, ConnectionShelf& kept, AuthLane::Note note,
                           AuthLane::Limits limits)
    : loop_(loop), kept_(kept), note_(std::move(note)), limits_(limits) {
  text_.reserve(kMostTextBytes);
  loop_.at_end_of_rounds(*this);
}

AuthPipeline::~AuthPipeline() { ::explicit_bzero(text_.data(), text_.size()); }

std::optional<AuthOutcome> AuthPipeline::ask(std::string_view line, base::Deadline answer_by) {
  const std::int64_t now_ns = base::now_ns();
  if (is_slow(now_ns) || hangs(now_ns, answer_by)) take_answers();
  if (hangs(now_ns, answer_by)) {
    note_(socket_.get(), {Kind::kTimedOut});
    give_up();
  }
  if (!is_open_for_more(now_ns)) return {};
  Question mine{&loop_.current_flow(), line, now_ns};
  waiting_.push_back(&mine);
  while (!mine.is_over && !is_over_for(mine, answer_by)) {
    mine.is_asleep = true;
    loop_.sleep_until(std::min(answer_by.at_ns(), time_to_leave(mine)));
    mine.is_asleep = false;
  }
  if (!mine.is_over) leave(mine);
  return mine.outcome;
}

std::int64_t AuthPipeline::time_to_leave(const Question& question) const {
  return question.since_ns + limits_.patience_ms * base::kNsPerMs;
}

// Who waits only because many do goes on waiting: it would not be answered sooner elsewhere.
bool AuthPipeline::is_over_for(Question& question, base::Deadline answer_by) {
  const std::int64_t now_ns = base::now_ns();
  if (!answer_by.has_passed() && now_ns < time_to_leave(question)) return false;
  take_answers();
  if (question.is_over || answer_by.has_passed()) return true;
  if (question.is_sent || is_slow(now_ns)) return true;
  question.since_ns = now_ns;
  return false;
}

// The answer to a question that was sent will come, for nobody.
void AuthPipeline::leave(const Question& question) {
  std::erase(waiting_, &question);
  for (Asked& one : asked_) {
    if (one.question == &question) one.question = nullptr;
  }
}

// Whether a question has waited for longer than any may.
bool AuthPipeline::hangs(std::int64_t now_ns, base::Deadline answer_by) const {
  return !asked_.empty() && now_ns - asked_.front().asked_ns > answer_by.at_ns() - now_ns;
}

bool AuthPipeline::is_slow(std::int64_t now_ns) const {
  return !asked_.empty() && now_ns - asked_.front().asked_ns > limits_.old_ns;
}

// Whoever asks behind an old question would wait for the same thing.
bool AuthPipeline::is_open_for_more(std::int64_t now_ns) {
  if (socket_.is_open()) return !is_slow(now_ns);
  socket_ = kept_.take_quiet();
  if (!socket_.is_open()) return false;
  received_.emplace();
  constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (loop_.watch(socket_.get(), kEvents, *this)) return true;
  socket_ = {};
  return false;
}

void AuthPipeline::round_ends() {
  if (!socket_.is_open()) return;
  if (!base::completes("questions are not asked", [this] { take_waiting(); })) return give_up();
  if (text_.empty()) return;
  const ssize_t sent = socket_.send_now(text_);
  if (sent < 0 && errno != EAGAIN) return give_up();
  if (sent <= 0) return;
  const auto count = static_cast<std::size_t>(sent);
  ::explicit_bzero(text_.data(), count);
  text_.erase(0, count);
}

void AuthPipeline::take_waiting() {
  if (waiting_.empty()) return;
  const std::int64_t now_ns = base::now_ns();
  if (asked_.empty()) in_a_row_ = 0;
  while (!waiting_.empty() && asked_.size() < kMostAtOnce && in_a_row_ < kMostInARow) {
    ++in_a_row_;
    Question& next = *waiting_.front();
    if (text_.size() + next.line.size() > kMostTextBytes) return;
    asked_.push_back({&next, now_ns, next.line.starts_with(kVerbOfTokens)});
    text_ += next.line;
    next.is_sent = true;
    next.since_ns = now_ns;
    waiting_.pop_front();
  }
}

void AuthPipeline::happened(std::uint32_t events) {
  const bool has_ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  bool is_good = true;
  const auto take = [&] { is_good = receive() && !has_ended; };
  if (socket_.is_open() &&
      (!base::completes("an answer of the authserver is lost", take) || !is_good))
    give_up();
}

// Those that have come since the loop has looked. A question may seem old only because the loop had
// other work.
void AuthPipeline::take_answers() { happened(0); }

// Returns false if the connection is not to be used any more.
bool AuthPipeline::receive() {
  for (;;) {
    const auto room = received_->free_space();
    const ssize_t got = socket_.receive_now(room);
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    received_->received(static_cast<std::size_t>(got));
    if (!deliver()) return false;
    if (!socket_.may_have_more(got, room.size())) return true;
  }
}

// No answer is believed that came together with something odd.
bool AuthPipeline::deliver() {
  std::vector<AuthOutcome> replies;
  std::string_view line;
  std::string_view content;
  auto next = wire::LineBuffer::Next::kLine;
  while ((next = received_->next_reply(line, content)) == wire::LineBuffer::Next::kLine) {
    replies.push_back({Kind::kAnswered, wire::parse_reply(line), false, std::string(content)});
    if (replies.size() > asked_.size() || !goes_on(replies.back().reply)) return false;
    const bool is_token = asked_[replies.size() - 1].is_token;
    if (!fits(is_token ? kVerbOfTokens : std::string_view(), replies.back().reply)) return false;
  }
  const bool has_more = replies.size() == asked_.size() && !received_->is_empty();
  if (next == wire::LineBuffer::Next::kTooLong || has_more) return false;
  if (!replies.empty()) note_(socket_.get(), replies.front());
  for (const AuthOutcome& reply : replies) {
    tell(asked_.front(), reply);
    asked_.pop_front();
  }
  return true;
}

void AuthPipeline::tell(const Asked& asked, const std::optional<AuthOutcome>& outcome) {
  if (asked.question != nullptr) end(*asked.question, outcome);
}

void AuthPipeline::end(Question& question, const std::optional<AuthOutcome>& outcome) {
  question.outcome = outcome;
  question.is_over = true;
  if (question.is_asleep) loop_.wake(*question.flow);
}

// All who wait ask by themselves.
void AuthPipeline::give_up() {
  ::explicit_bzero(text_.data(), text_.size());
  text_.clear();
  for (const Asked& one : asked_) tell(one, {});
  for (Question* const one : waiting_) end(*one, {});
  asked_.clear();
  waiting_.clear();
  socket_ = {};
}

}  // namespace fileserver
