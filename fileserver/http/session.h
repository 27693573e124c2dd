// Serves one client of HTTP after another: takes a request, finds who answers it. docs/http.md says
// what is answered when.
#pragma once

#include "fileserver/http/parts.h"
#include "serve/options.h"

namespace fileserver {

// Belongs to one thread.
class HttpSession : public serve::Worker {
 public:
  // `parts` must outlive the session.
  explicit HttpSession(const HttpParts& parts) : parts_(parts) {}

  void serve(serve::Stream& stream) override;

 private:
  net::IpAddress client_of(Exchange& exchange) const;
  void answer(Exchange& exchange);
  bool is_validated(Exchange& exchange);

  const HttpParts& parts_;
};

}  // namespace fileserver
