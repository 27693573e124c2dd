// POST /-/accounts: makes an account, as `new:` does.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver {

void make_account(Exchange& exchange, Parts& parts);

}  // namespace fileserver
