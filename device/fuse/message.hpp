// What another host may ask. libfuse takes every message for the word of its own kernel: it
// believes the lengths, the counts and that names end. What comes from a socket is looked at here
// first.
#pragma once
#include <cstddef>
#include <string_view>

namespace sluice::device {

/// 0 if this is the name of one entry in a directory: not empty, not "." or "..", without '/' and
/// NUL, of at most 255 bytes.
[[nodiscard]] int error_of_name(std::string_view name);

struct Verdict {
    enum class Kind {
        serve,   ///< libfuse may read it
        refuse,  ///< whole, but not to be done: answer with `error`
        end,     ///< no kernel sends this: nothing more is believed of this connection
    };
    Kind kind = Kind::end;
    int error = 0;
    char const* why = "";  ///< of `end`
};

/// The messages of one connection, in the order in which they came.
class MessageCheck {
public:
    /// The bytes are those of one message: a fuse_in_header and its arguments.
    [[nodiscard]] Verdict operator()(char const* message, std::size_t bytes);

private:
    bool initialised_ = false;
};

}  // namespace sluice::device
