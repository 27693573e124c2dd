// Heads for tests.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "http/request_head.h"

namespace testing {

// A head that was given to a parser in pieces of the given size. Owns the bytes that it points to.
class ParsedHead {
 public:
  explicit ParsedHead(std::string_view text, std::size_t piece_bytes = 1'000'000) : text_(text) {
    for (std::size_t end = 0; end < text.size() && state_ == http::HeadParser::State::kNeedMore;) {
      end = std::min(text.size(), end + piece_bytes);
      // Every call sees the bytes at another place in memory, which ends behind them.
      text_ = std::string(text.substr(0, end));
      text_.shrink_to_fit();
      state_ = parser_.parse(text_);
    }
  }
  ParsedHead(const ParsedHead&) = delete;
  ParsedHead& operator=(const ParsedHead&) = delete;

  // 200 for a complete head, 0 for one that needs more.
  int status() const {
    switch (state_) {
      case http::HeadParser::State::kNeedMore: return 0;
      case http::HeadParser::State::kComplete: return 200;
      case http::HeadParser::State::kRefused: return parser_.status().number();
    }
    return -1;
  }

  const http::RequestHead& operator*() const { return parser_.head(); }
  const http::RequestHead* operator->() const { return &parser_.head(); }
  std::size_t size_bytes() const { return parser_.size_bytes(); }

 private:
  std::string text_;
  http::HeadParser parser_;
  http::HeadParser::State state_ = http::HeadParser::State::kNeedMore;
};

// A request with these further field lines.
inline std::string request(std::string_view method, std::string_view lines) {
  return std::string(method) + " /a HTTP/1.1\r\nHost: x\r\n" + std::string(lines) + "\r\n";
}

}  // namespace testing
