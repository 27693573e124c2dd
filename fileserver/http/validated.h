// Who a request is from: its password, or the session of its cookie.
#pragma once

#include <string>

#include "fileserver/auth/log_in.h"
#include "fileserver/http/exchange.h"

namespace fileserver {

struct Validated {
  LogIn::Answer answer;  // kDenied too if there are no credentials
  std::string user = {};
};

// Asks the authserver. Requires: nothing has read the body of the request that they are of, or they
// are those of a copy of its head.
Validated validate(const Exchange& exchange, Parts& parts, const RequestCredentials& credentials);

// Whether a browser says that a page of another site sends this, which may know nothing of the
// answer and still wants what it does. Other programs send neither field.
bool is_from_other_site(const http::RequestHead& head);

// Whether it says that a page of another site, or a file here that was opened as a page, shows this
// in itself, as a frame, an <object> or a picture does. Such a page sees whether it could be shown.
// A link that somebody follows is none of these, nor is what a script asks for.
bool is_part_of_other_site(const http::RequestHead& head);

// Whether it says that a page of ours does, or whoever sits before it. Any page can make a browser
// send a request, so with a cookie nothing is changed without that.
bool is_from_our_site(const http::RequestHead& head);

}  // namespace fileserver
