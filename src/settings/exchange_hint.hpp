// The hint sluice_exchange: how requests and data of a collective call get from rank to rank. It is
// for experiments, such as those of the papers. Pure. Used by file_hints.cpp.
//
// Its value is a list of words with commas between:
//   ascending, one-layer ...         order and layers of the exchanges of requests and of data
//   throttle:32, batches             messages that an aggregator receives at once
//   stride:4                         the list of ranks of the balanced order
//   metadata:WORD, data:WORD         the same of one of them
//   groups:2                         process groups of a node
#pragma once
#include "settings/hints.hpp"

#include <optional>
#include <string>

namespace sluice {

/// The hints with what `text` says in place of what `before` says of the exchange; nothing where
/// the text is not understood. What the text does not mention stays as it is.
[[nodiscard]] std::optional<Hints> with_exchange(Hints before, std::string const& text);

/// The hints without anything that sluice_exchange could set.
[[nodiscard]] Hints without_exchange(Hints hints) noexcept;

/// The shortest text that sets the same; "auto" where nothing is set.
[[nodiscard]] std::string describe_exchange(Hints const& hints);

}  // namespace sluice
