// How the fileserver connects to the authserver.
#pragma once

namespace fileserver {

// Whether connections to the authserver are kept, or made for each request.
enum class AuthConnection { kPersistent, kPerRequest };

}  // namespace fileserver
