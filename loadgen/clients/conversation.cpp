#include "loadgen/clients/conversation.h"

#include <array>
#include <cerrno>
#include <system_error>

#include "base/clock.h"
#include "base/log.h"
#include "loadgen/config/numbered.h"
#include "net/socket_io.h"

namespace loadgen::crowd {

namespace {

constexpr std::size_t kMostReplyBytes = 64 * 1024;

Answer failed(Cause cause, std::string why) {
  return {.kind = Answer::Kind::kFailed, .failure = cause, .why = std::move(why)};
}

std::string quoted(std::string_view said) {
  return said.empty() ? std::string() : base::log::quoted(said);
}

Answer closed() {
  return failed(Fault::kClosed, std::error_code(errno, std::generic_category()).message());
}

}  // namespace

void Conversation::begin(const Config& config, int user, std::int64_t fetch, bool is_logged_in) {
  const int account = user % config.accounts + 1;
  user_ = numbered(config.user, account);
  password_ = numbered(config.password, account);
  file_name_ = config.unique == 0 ? config.file
                                  : numbered(config.file, file_number(user, config.unique, fetch));
  received_.clear();
  request_ = {.account = {user_, password_}, .file_name = file_name_, .is_logged_in = is_logged_in};
  if (!is_logged_in) driver_->begin_connection();
  driver_->begin(request_);
}

Answer Conversation::go_on(int fd) {
  for (;;) {
    const Step step = driver_->next(received_);
    std::string why = quoted(step.why);  // of `received_`
    received_.erase(0, step.taken_bytes);
    switch (step.kind) {
      case Step::Kind::kSend:
        if (step.bytes.empty()) break;
        asked_ns_ = base::now_ns();
        if (net::send_now(fd, step.bytes) != static_cast<ssize_t>(step.bytes.size()))
          return closed();
        break;
      case Step::Kind::kReceive:
        if (auto end = receive(fd)) return std::move(*end);
        break;
      case Step::Kind::kFile: return file(step.size_bytes);
      case Step::Kind::kSkip:  // a refusal: the user leaves, so nobody reads its text
      case Step::Kind::kUpload:
      case Step::Kind::kSendData: break;
      case Step::Kind::kOpenData: return {.kind = Answer::Kind::kData, .data_port = step.data_port};
      case Step::Kind::kData:
        if (step.size_bytes == 0) return failed(Fault::kProtocol, "an empty file has no rate");
        return {.kind = Answer::Kind::kFile, .size_bytes = step.size_bytes};
      case Step::Kind::kDone:
        if (!step.failure)
          return {.kind = Answer::Kind::kDone, .keeps_connection = step.keeps_connection};
        return failed(*step.failure, std::move(why));
    }
  }
}

// Receives a little at a time, so that few bytes of the file come early.
std::optional<Answer> Conversation::receive(int fd) {
  std::array<char, 256> bytes;
  const ssize_t got = net::receive_now(fd, bytes);
  if (got < 0 && errno == EAGAIN) return Answer{.kind = Answer::Kind::kWaits};
  if (got == 0) return failed(Fault::kClosed, "the server closed the connection");
  if (got < 0) return closed();
  received_.append(bytes.data(), static_cast<std::size_t>(got));
  if (received_.size() > kMostReplyBytes) return failed(Fault::kProtocol, "the reply has no end");
  return {};
}

Answer Conversation::file(std::uint64_t size_bytes) {
  const Step end = driver_->next({});
  if (end.failure) return failed(*end.failure, quoted(end.why));
  if (size_bytes == 0) return failed(Fault::kProtocol, "an empty file has no rate");
  if (received_.size() > size_bytes) return failed(Fault::kProtocol, "more bytes than announced");
  return {.kind = Answer::Kind::kFile,
          .size_bytes = size_bytes,
          .early_bytes = received_.size(),
          .keeps_connection = end.keeps_connection};
}

std::unique_ptr<Conversation> Conversations::take() {
  if (free_.empty()) return std::make_unique<Conversation>(config_);
  auto conversation = std::move(free_.back());
  free_.pop_back();
  return conversation;
}

void Conversations::give_back(std::unique_ptr<Conversation> conversation) {
  if (conversation) free_.push_back(std::move(conversation));
}

}  // namespace loadgen::crowd
