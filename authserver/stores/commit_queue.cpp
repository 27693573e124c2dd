#include "authserver/stores/commit_queue.h"

#include <sodium.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/futex.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;
using base::ProcessMutex;

constexpr std::string_view kFailedTogether = "the transaction of several accounts failed";

Error too_late() { return {ErrorCode::kUnavailable, "waited too long for the commits of others"}; }

bool is_refused(const base::Status& inserted) {
  return !inserted && inserted.error().code == ErrorCode::kExists;
}

}  // namespace

class CommitQueue::Lead {
 public:
  explicit Lead(CommitQueue& queue) : queue_(queue), locked_(queue.leader_.try_lock()) {
    if (locked_ == ProcessMutex::Locked::kYesAfterDeath) fail_jobs_of_the_dead();
  }
  ~Lead();
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;

  bool is_granted() const { return locked_ != ProcessMutex::Locked::kNo; }

  // Commits the account together with those that wait. Requires: is_granted().
  base::Status commit(const Account& account, AccountTransaction& transaction,
                      std::int64_t deadline_ns);

 private:
  struct Taken {
    std::size_t index;  // of the job
    bool is_refused;
  };

  void take_waiting();
  base::Status insert_taken(AccountTransaction& transaction);
  void answer(const Taken& taken);
  void fail_jobs_of_the_dead();  // whose transaction ended with its leader

  CommitQueue& queue_;
  const ProcessMutex::Locked locked_;
  std::vector<Taken> taken_;
  State answer_ = State::kUnavailable;  // to all that were not refused; to all unless kCreated
};

// The next leader is called before those who have their answer are woken. So the disk is busy again
// while they run.
CommitQueue::Lead::~Lead() {
  if (!is_granted()) return;
  for (const Taken& taken : taken_) answer(taken);
  queue_.leader_.unlock();
  queue_.call_next();
  for (const Taken& taken : taken_) base::wake(queue_.states_[taken.index]);
}

base::Status CommitQueue::Lead::commit(const Account& account, AccountTransaction& transaction,
                                       std::int64_t deadline_ns) {
  taken_.reserve(kMostTogether);  // no job is taken for which there is no memory
  if (const auto begun = transaction.begin(deadline_ns); !begun) return begun;
  CancelUnlessCommitted open(transaction);
  take_waiting();
  const auto own = transaction.insert(account);
  auto done = is_refused(own) ? base::Status(base::kDone) : own;
  if (done) done = insert_taken(transaction);
  if (done) done = transaction.commit();
  if (done) {
    open.committed();
    answer_ = State::kCreated;
    return own;
  }
  if (done.error().code == ErrorCode::kInternal) answer_ = State::kInternal;
  return done;
}

void CommitQueue::Lead::take_waiting() {
  const std::size_t first = queue_.first_to_take_;
  for (std::size_t i = 0; i < kMostWaiting && taken_.size() + 1 < kMostTogether; ++i) {
    const std::size_t index = (first + i) % kMostWaiting;
    State state = queue_.states_[index];
    while (is_waiting(state)) {
      if (!queue_.states_[index].compare_exchange_weak(state, State::kTaken)) continue;
      taken_.push_back({index, false});
      queue_.first_to_take_ = index + 1;
      break;
    }
  }
}

base::Status CommitQueue::Lead::insert_taken(AccountTransaction& transaction) {
  for (Taken& taken : taken_) {
    const auto inserted = transaction.insert(queue_.jobs_[taken.index].account());
    taken.is_refused = is_refused(inserted);
    if (!inserted && !taken.is_refused) return inserted;
  }
  return base::kDone;
}

void CommitQueue::Lead::answer(const Taken& taken) {
  const bool is_committed = answer_ == State::kCreated;
  State state = State::kTaken;
  if (queue_.states_[taken.index].compare_exchange_strong(
          state, is_committed && taken.is_refused ? State::kExists : answer_)) {
    return;
  }
  queue_.free(taken.index);  // its owner has abandoned it
}

void CommitQueue::Lead::fail_jobs_of_the_dead() {
  for (std::size_t index = 0; index < kMostWaiting; ++index) {
    const State state = queue_.states_[index];
    if (state != State::kTaken && state != State::kAbandoned) continue;
    answer({index, false});
    base::wake(queue_.states_[index]);
  }
}

base::Status CommitQueue::create(const Account& account, AccountTransaction& transaction,
                                 std::int64_t deadline_ns) {
  std::optional<std::size_t> place;
  for (;;) {
    if (place) {
      if (auto answer = take_answer(*place)) return *answer;
      State called = State::kCalled;
      states_[*place].compare_exchange_strong(called, State::kWaiting);
    }
    {
      Lead lead(*this);
      if (lead.is_granted() && (!place || withdraw(*place)))
        return lead.commit(account, transaction, deadline_ns);
    }
    const std::int64_t now_ns = base::now_ns();
    if (now_ns >= deadline_ns) return place ? give_up(*place) : base::Status(too_late());
    if (place) {
      const State state = states_[*place];
      if (state == State::kWaiting || state == State::kTaken)
        base::sleep_while(states_[*place], state, std::min(deadline_ns, now_ns + look_every_ns_));
    } else if (place = enter(account); !place) {
      base::pause_ms(1);
    }
  }
}

// The caller tries once more to lead before it sleeps, because the leader may not have seen it.
std::optional<std::size_t> CommitQueue::enter(const Account& account) {
  if (account.record.size() > kMostRecordBytes) return {};
  for (std::size_t index = 0; index < kMostWaiting; ++index) {
    Job& job = jobs_[index];
    if (job.owner.try_lock() == ProcessMutex::Locked::kNo) continue;
    if (is_unused(index)) {
      job.fill(account);
      states_[index] = State::kWaiting;
      return index;
    }
    job.owner.unlock();
  }
  return {};
}

// Whether nobody uses the job. Frees that of a process that died, unless a leader uses it.
// Requires: the calling thread holds the mutex of the owner.
bool CommitQueue::is_unused(std::size_t index) {
  const bool is_left = states_[index] >= State::kCreated || take_out(index);
  if (is_left) free(index);
  return states_[index] == State::kFree;
}

// Takes the job out of the queue, unless a leader has taken it.
bool CommitQueue::withdraw(std::size_t index) {
  const bool is_out = take_out(index);
  if (is_out) leave(index);
  return is_out;
}

// From now on no leader takes the job, if none has taken it.
bool CommitQueue::take_out(std::size_t index) {
  State state = states_[index];
  while (is_waiting(state)) {
    if (states_[index].compare_exchange_weak(state, State::kFree)) return true;
  }
  return false;
}

std::optional<base::Status> CommitQueue::take_answer(std::size_t index) {
  const State state = states_[index];
  if (state < State::kCreated) return {};
  leave(index);
  switch (state) {
    case State::kCreated: return base::kDone;
    case State::kExists: return Error{ErrorCode::kExists, "the user exists"};
    case State::kInternal: return Error{ErrorCode::kInternal, std::string(kFailedTogether)};
    default: return Error{ErrorCode::kUnavailable, std::string(kFailedTogether)};
  }
}

base::Status CommitQueue::give_up(std::size_t index) {
  if (withdraw(index)) {
    call_next();  // because this one may have been called
    return too_late();
  }
  State state = State::kTaken;
  if (!states_[index].compare_exchange_strong(state, State::kAbandoned)) return *take_answer(index);
  jobs_[index].owner.unlock();
  return too_late();
}

// Requires: the calling thread holds the mutex of the owner, and no leader uses the job.
void CommitQueue::leave(std::size_t index) {
  free(index);
  jobs_[index].owner.unlock();
}

void CommitQueue::free(std::size_t index) {
  jobs_[index].wipe();
  states_[index] = State::kFree;
}

void CommitQueue::call_next() {
  const std::size_t first = first_to_take_;
  for (std::size_t i = 0; i < kMostWaiting; ++i) {
    std::atomic<State>& state = states_[(first + i) % kMostWaiting];
    State waiting = State::kWaiting;
    if (state == State::kCalled) return;
    if (state != waiting || !state.compare_exchange_strong(waiting, State::kCalled)) continue;
    base::wake(state);
    return;
  }
}

std::size_t CommitQueue::waiting() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(states_, [](const auto& state) { return is_waiting(state.load()); }));
}

bool was_failed_by_leader(const Error& error) { return error.context == kFailedTogether; }

void CommitQueue::Job::fill(const Account& account) {
  user_bytes = static_cast<std::uint8_t>(account.user.copy(user.data(), user.size()));
  record_bytes = static_cast<std::uint8_t>(account.record.copy(record.data(), record.size()));
}

Account CommitQueue::Job::account() const {
  return {{user.data(), user_bytes}, {record.data(), record_bytes}};
}

void CommitQueue::Job::wipe() {
  ::sodium_memzero(user.data(), user_bytes);
  ::sodium_memzero(record.data(), record_bytes);
}

}  // namespace authserver
