// What an executable says of itself, without running it.
#pragma once
#include <string>

namespace sluice {

/// Is the file an ELF program for this machine, linked directly to a library whose name begins so?
/// Also false for whatever cannot be read: scripts, files of other machines, damaged ones.
bool is_linked_to(std::string const& file, std::string const& library);

}  // namespace sluice
