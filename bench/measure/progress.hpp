// How far a program that measures is: a bar on standard error, drawn by rank 0 when that is a
// terminal or when it was asked for; else, where it is wanted, a line for each part.
#pragma once
#include <string>

namespace sluice::bench {

class Progress {
public:
    enum class Way { none, lines, bar };
    explicit Progress(Way way) : way_(way) {}
    explicit Progress(bool shown) : Progress(shown ? Way::bar : Way::none) {}

    /// A part of the program begins: a line of its own where there is no bar.
    void part(std::string const& label) const;

    /// A mode begins that will take `steps`.
    void expect(int steps);
    /// A step begins, and the one before is done.
    void step(std::string const& label);
    /// Wipes the bar off, so that a result can be printed; the next step draws it again.
    void wipe() const;

private:
    Way way_;
    int expected_ = 0, begun_ = 0;
};

}  // namespace sluice::bench
