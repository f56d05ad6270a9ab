// The words by which a hint names deliveries. See delivery.hpp.
#include "settings/delivery.hpp"

#include "settings/words.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {
namespace {

constexpr Kernel kernels[] = {Kernel::automatic,  Kernel::ascending, Kernel::pairwise,
                              Kernel::spread_out, Kernel::balanced,  Kernel::even};

/// The number behind `prefix`, at least `least`; false where `word` is something else.
bool take_number(std::string_view word, std::string_view prefix, std::int32_t least,
                 std::int32_t& into) {
    if (!word.starts_with(prefix)) return false;
    char const* const end = word.data() + word.size();
    auto const [rest, error] = std::from_chars(word.data() + prefix.size(), end, into);
    return error == std::errc{} && rest == end && into >= least;
}

bool take_word(std::string_view word, Delivery& delivery) {
    auto const* const kernel = std::find_if(std::begin(kernels), std::end(kernels),
                                            [&](Kernel k) { return word == describe(k); });
    if (kernel != std::end(kernels))
        delivery.kernel = *kernel;
    else if (word == "one-layer")
        delivery.layers = Layers::one;
    else if (word == "two-layer")
        delivery.layers = Layers::two;
    else if (word == "by-rank")
        delivery.stride = 1;
    else if (word == "synchronous")
        delivery.synchronous = 1;
    else if (word == "batches" || word == "sliding")
        delivery.throttle.batches = word == "batches" ? 1 : 0;
    else if (word == "throttle:auto")
        delivery.throttle.messages = Throttle::automatic;
    else
        return take_number(word, "throttle:", 0, delivery.throttle.messages) ||
               take_number(word, "stride:", 1, delivery.stride);
    return true;
}

}  // namespace

char const* describe(Kernel kernel) noexcept {
    switch (kernel) {
    case Kernel::automatic:
        return "auto";
    case Kernel::ascending:
        return "ascending";
    case Kernel::pairwise:
        return "pairwise";
    case Kernel::spread_out:
        return "spread-out";
    case Kernel::balanced:
        return "balanced";
    case Kernel::even:
        return "even";
    }
    return "?";
}

std::string describe(Throttle throttle) {
    if (throttle.messages == Throttle::automatic) return "auto";
    return std::to_string(throttle.messages) + (throttle.batches != 0 ? ",batches" : "");
}

std::string describe(Delivery delivery) {
    std::string text = describe(delivery.kernel);
    if (delivery.layers != Layers::automatic) {
        text = (delivery.layers == Layers::one ? "one-layer," : "two-layer,") + text;
    }
    if (delivery.stride > 0) text += ",stride:" + std::to_string(delivery.stride);
    if (delivery.synchronous != 0) text += ",synchronous";
    if (delivery.throttle.messages != Throttle::automatic)
        text += ",throttle:" + describe(delivery.throttle);
    return text;
}

std::optional<Delivery> parse_delivery(std::string const& text, Delivery delivery) {
    bool const understood =
        for_each_word(text, [&](std::string_view word) { return take_word(word, delivery); });
    return understood ? std::optional(delivery) : std::nullopt;
}

}  // namespace sluice
