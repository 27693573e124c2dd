// The flags that both servers have.
#pragma once

#include <string>

#include "flags/option.h"
#include "serve/options.h"
#include "tls/key_pair.h"

namespace serve {

// The models that a server has. One that spends its time in the libraries of stores, and on
// password hashes, has nothing to do while it waits.
enum class Models { kThreadAndProcess, kAll };

// Declares the limits of connections, --telemetry-listen, --user, --debuggable, --model, with
// Models::kAll also --loops, and the flag named `spare_name`, which is --spare-threads or
// --spare-workers. They write into `target`, which must outlive flags::parse(). Each is put into
// its group.
void add_options(flags::App& app, Options& target, const std::string& spare_name,
                 Models models = Models::kThreadAndProcess);

// Declares --tls-certificate, --tls-key and --tls-handshakes, in a group of their own.
void add_encryption(flags::App& app, tls::Files& files, int& handshakes,
                    flags::Shown shown = flags::Shown::kInEveryHelp);

// Begin the groups that the servers add flags of their own to.
void group_security(flags::App& app);
void group_to_measure(flags::App& app);

}  // namespace serve
