// What the authserver tells of accounts and their tokens, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "fileserver/http/exchange.h"

namespace fileserver {

// Sends JSON that no cache keeps.
void send_json(Exchange& exchange, http::Status status, std::string_view json);

// The lines of `apps`, `links` or `sessions`, such as "ID app 1700000000 1700000000 0 phone".
std::string tokens_as_json(std::string_view lines);

// The lines of `list`, such as "amy admin".
std::string users_as_json(std::string_view lines);

}  // namespace fileserver
