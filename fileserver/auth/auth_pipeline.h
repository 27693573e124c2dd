// Asks the authserver for all connections of one loop, on one kept connection.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "events/loop.h"
#include "fileserver/auth/auth_exchange.h"
#include "fileserver/auth/auth_lane.h"
#include "fileserver/auth/connection_shelf.h"
#include "tls/socket.h"
#include "wire/line_buffer.h"

namespace fileserver {

// The questions of one round of the loop are sent with one call at its end. Those of later rounds
// follow without waiting for answers, which come in the order of the questions. At most 128 are
// under way at once, and any number may wait: alone, a crowd would cost the authserver a connection
// each. Who is told to ask alone waits for one of a few places (AskingPlaces). What AuthLane says
// of questions, of answers that are believed, and of slow ones holds here as well.
//
// One thread, that of the loop.
class AuthPipeline final : public events::Watch, public events::RoundEnd {
 public:
  static constexpr std::size_t kMostAtOnce = 128;

  // Then all answers come before the next question. So an answer too many, which would be taken for
  // that of another question, is seen.
  static constexpr std::size_t kMostInARow = 4096;

  // All must outlive it.
  AuthPipeline(events::Loop& loop, ConnectionShelf& kept, AuthLane::Note note,
               AuthLane::Limits limits);
  ~AuthPipeline();

  // Returns nothing if the caller shall ask by itself, on whatever connection. `line` is a whole
  // line of wire::Auth or wire::Token. Called in a context.
  std::optional<AuthOutcome> ask(std::string_view line, base::Deadline answer_by);

  void happened(std::uint32_t events) override;
  void round_ends() override;

 private:
  struct Question {
    events::Flow* flow;
    std::string_view line;
    std::int64_t since_ns;  // it waits, or was sent
    bool is_sent = false;
    bool is_over = false;
    bool is_asleep = false;  // its flow
    std::optional<AuthOutcome> outcome = {};
  };
  struct Asked {
    Question* question;  // null: its caller has left
    std::int64_t asked_ns;
    bool is_token;
  };

  std::int64_t time_to_leave(const Question& question) const;
  bool is_over_for(Question& question, base::Deadline answer_by);
  void leave(const Question& question);
  bool is_slow(std::int64_t now_ns) const;
  void take_waiting();
  void take_answers();
  void end(Question& question, const std::optional<AuthOutcome>& outcome);
  bool hangs(std::int64_t now_ns, base::Deadline answer_by) const;
  bool is_open_for_more(std::int64_t now_ns);
  bool receive();
  bool deliver();
  void tell(const Asked& asked, const std::optional<AuthOutcome>& outcome);
  void give_up();

  events::Loop& loop_;
  ConnectionShelf& kept_;
  const AuthLane::Note note_;
  const AuthLane::Limits limits_;

  tls::Socket socket_;
  std::optional<wire::LineBuffer> received_;
  std::size_t in_a_row_ = 0;  // were asked since there was no open question
  std::deque<Question*> waiting_;
  std::deque<Asked> asked_;  // in their order, those too that are in `text_`
  std::string text_;         // to be sent; overwritten behind that
};

}  // namespace fileserver
