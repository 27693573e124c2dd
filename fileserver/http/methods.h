// Which methods the served folder has, and who answers them.
#pragma once

#include <string>

#include "fileserver/http/handler.h"
#include "fileserver/offer.h"
#include "http/request_head.h"

namespace fileserver {

// Null: the method is not allowed.
Handler handler_of(http::Method method, const Offer& offer);

// The methods of all names of the served folder, as in Allow. `refused` is left out, which this
// name does not have now.
std::string allowed_with(const Offer& offer, http::Method refused = http::Method::kOther);

}  // namespace fileserver
