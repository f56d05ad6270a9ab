// What an executable says of itself, without running it.
#pragma once
#include <string>
#include <vector>

namespace sluice {

/// Is the file an ELF program for this machine, linked directly to a library whose name begins so?
/// Also false for whatever cannot be read: scripts, files of other machines, damaged ones.
bool is_linked_to(std::string const& file, std::string const& library);

/// Is it a program for this machine that needs no dynamic loader, so that nothing is preloaded?
bool is_static(std::string const& file);

/// Does it define a function of this name itself? A stripped program tells only what it exports.
bool defines(std::string const& file, std::string const& function);

/// The lines that the program's dynamic loader lists of all libraries that the program needs,
/// those that others need among them; the program does not run. Costs some milliseconds.
std::vector<std::string> needed_libraries(std::string const& file);

}  // namespace sluice
