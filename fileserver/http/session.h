// Serves one client of HTTP after another: takes a request, finds who answers it. docs/http.md says
// what is answered when.
#pragma once

#include "fileserver/http_hosts.h"
#include "net/ip_address.h"
#include "serve/options.h"

namespace fileserver {

class Exchange;
struct Parts;

// Belongs to one thread.
class HttpSession : public serve::Worker {
 public:
  // Sessions share the parts and the hosts, which must outlive them.
  HttpSession(Parts& parts, const HttpHosts& hosts) : parts_(parts), hosts_(hosts) {}

  void serve(serve::Stream& stream) override;

 private:
  net::IpAddress client_of(Exchange& exchange) const;
  void answer(Exchange& exchange);
  bool is_validated(Exchange& exchange);

  Parts& parts_;
  const HttpHosts& hosts_;
  HttpHosts::Known known_host_;
};

}  // namespace fileserver
