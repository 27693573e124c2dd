// By which names a client may call the HTTP front (--http-host).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request_head.h"
#include "net/address.h"

namespace fileserver {

// Reads names with commas between them: letters, digits, dots and hyphens, without a port. Nothing
// if one of them is not acceptable.
std::optional<std::vector<std::string>> parse_http_hosts(std::string_view text);

// A page may give its own name the address of this server, behind the back of the browser, and ask
// the server as if it were its own (DNS rebinding). The browser then sends the name of the page as
// `Host`. So a name is only good if it is `localhost`, or if the administrator has named it. An IP
// address is always good, because no page can change what it leads to.
//
// Immutable once built. Threads: any.
class HttpHosts {
 public:
  // The authority that was good last. Of one thread, and of one HttpHosts.
  class Known {
    friend class HttpHosts;
    std::string authority_;
  };

  // Without names, `Host` counts only if `listen` is on a loopback address. A server there is most
  // likely one that nobody but this machine is to reach, and that has no name.
  HttpHosts(std::vector<std::string> names, const std::optional<net::HostPort>& listen);

  // Whether the authority of the target, or without one `Host`, is a good name. An empty one is:
  // browsers do not send it. What `known` has is not looked at again.
  bool accepts(const http::RequestHead& head, Known& known) const;

 private:
  bool is_good(std::string_view authority, Known& known) const;

  const std::vector<std::string> names_;
  const bool is_asked_for_;
};

}  // namespace fileserver
