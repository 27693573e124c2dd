// A TUN device: what the kernel sends through it is read here, and what is written comes out of it.
#pragma once

#include <string>

#include "base/result.h"
#include "net/fd.h"

namespace delay_line {

// Makes a TUN device of this name in a network namespace, which is named by a file. It is gone when
// the descriptor is closed. Reading and writing do not wait, and a packet is a read or a write.
//
// Needs the permission to enter the namespace. The calling thread is in its own one afterwards.
base::Result<net::Fd> open_tunnel(const std::string& namespace_file, const std::string& name);

}  // namespace delay_line
