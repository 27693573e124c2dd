// POST /-/accounts: makes an account, as `new:` does.
#pragma once

#include "fileserver/http/parts.h"

namespace fileserver {

void make_account(Exchange& exchange, const HttpParts& parts);

}  // namespace fileserver
