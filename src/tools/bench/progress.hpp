// How far the program is: a bar on standard error, drawn by rank 0 when that is a terminal or when
// it was asked for.
#pragma once
#include <string>

namespace sluice::bench {

class Progress {
public:
    explicit Progress(bool shown) : shown_(shown) {}

    /// A mode begins that will take `steps`.
    void expect(int steps);
    /// A step begins, and the one before is done.
    void step(std::string const& label);
    /// Wipes the bar off, so that a result can be printed; the next step draws it again.
    void wipe() const;

private:
    bool shown_;
    int expected_ = 0, begun_ = 0;
};

}  // namespace sluice::bench
