// Messages of other processes over a fabric, beside sends and receives of this one. An input is a
// list of steps: a message comes, a write has ended, the program starts something, or the fabric
// refuses for a while.
#include "fuzz.hpp"
#include "system/clock.hpp"
#include "transport/fabric.hpp"

#include <memory>

namespace sluice::fuzz {
namespace {

constexpr std::uint64_t key = 7, own_name = 100, peer_name = 101;
constexpr std::size_t whole_most = 256;

/// Takes what is sent, and gives writes back when it is asked to.
class Wire final : public FabricWire {
public:
    Wire() { card_.name = own_name, card_.key = key, card_.slots = 4; }
    bool meet(FabricIndex, std::span<std::byte const>) override { return true; }
    [[nodiscard]] std::size_t message_most() const noexcept override {
        return whole_most + sizeof(FabricHeader);
    }
    [[nodiscard]] std::size_t write_most() const noexcept override { return 512; }
    [[nodiscard]] unsigned data_bits() const noexcept override { return bits; }
    WireResult send(FabricIndex, std::span<std::byte const> head,
                    std::span<std::byte const> body) override {
        if (refuses) return WireResult::full;
        require(head.size() + body.size() <= message_most(), "a message is not too long");
        sum_ += look_at(head) + look_at(body);
        ++sent;
        return WireResult::taken;
    }
    WireResult write(FabricIndex, std::span<std::byte const> bytes, std::uint64_t, std::uint64_t,
                     std::uint64_t, void* context) override {
        if (refuses) return WireResult::full;
        sum_ += look_at(bytes);
        writes.push_back(context);
        return WireResult::taken;
    }
    std::optional<ShownMemory> show(std::span<std::byte>) override {
        if (refuses) return std::nullopt;
        return ShownMemory{1, ++shown_, nullptr};
    }
    void hold(std::uint64_t, std::span<std::byte>) override {}
    void release(std::uint64_t) override {}
    PeerLife life_of(FabricIndex, double) override { return PeerLife::unknown; }
    void hide(void*) override {}
    [[nodiscard]] FabricCard const& card() const noexcept override { return card_; }
    bool progress(Fabric&) override { return false; }

    bool refuses = false;
    unsigned bits = 64;
    std::vector<void*> writes;
    std::int64_t sent = 0;

private:
    /// So that the sanitizer sees bytes that are not there.
    static unsigned look_at(std::span<std::byte const> bytes) {
        unsigned sum = 0;
        for (std::byte const byte : bytes) sum += std::to_integer<unsigned>(byte);
        return sum;
    }
    FabricCard card_;
    std::uint64_t shown_ = 0;
    unsigned sum_ = 0;
};

struct StepClock final : Clock {
    double now() override { return seconds; }
    double seconds = 1;
};

class Steps {
public:
    explicit Steps(Input input) : input_(input) {
        wire_.bits = input_.take<std::uint8_t>() % 2 == 0 ? 64 : 32;
        FabricCard peer;
        peer.name = peer_name, peer.key = key, peer.slots = 2;
        peer_ = fabric_.meet(peer);
    }
    void go() {
        for (int left = 64; left > 0 && !input_.empty(); --left) step();
        wire_.refuses = false;
        for (int left = 4; left > 0; --left) end_writes(), (void)fabric_.progress();
        fabric_.end(peer_);
        end_writes();
        for (Message& message : messages_)
            require(fabric_.finished(message), "all messages end with their peer");
        require(fabric_.under_way() == 0, "none is under way then");
    }

private:
    void step() {
        auto const what = input_.take<std::uint8_t>();
        auto const context = std::uint64_t{1} + what / 16 % 2;
        switch (what % 16) {
        case 0:
            return start(context, true);
        case 1:
            return start(context, false);
        case 2:
            return fabric_.take_write(input_.take<std::uint64_t>());
        case 3:
            return end_writes();
        case 4:
            wire_.refuses = !wire_.refuses;
            return;
        case 5:
            clock_.seconds += 0.25;
            (void)fabric_.progress();
            return;
        case 6:
            return fabric_.end(context, std::span(&peer_, 1), what >= 128);
        case 7:
            return take_as_it_is();
        default:
            return take_message(context);
        }
    }
    /// From a stranger: only who knows the key is believed.
    void take_as_it_is() {
        auto const message = input_.take_copy(sizeof(FabricHeader) + whole_most);
        FabricHeader header;
        if (message.size() < sizeof header) return fabric_.take(message);
        std::memcpy(&header, message.data(), sizeof header);
        if (header.key == key) return;
        auto const sent = wire_.sent;
        fabric_.take(message);
        require(wire_.sent == sent, "a stranger gets no answer");
    }
    /// From the peer: the numbers are small, so that they are those of messages under way.
    void take_message(std::uint64_t context) {
        struct Small {
            std::uint8_t kind, tag, number, credits, synchronous, receive, writes, body;
            std::uint16_t bytes;
        };
        auto const small = input_.take<Small>();
        FabricHeader header;
        header.key = key, header.from = small.tag >= 128 ? peer_name + 1 : peer_name;
        header.message = {context, small.tag % 4, small.number % 8U};
        header.credits = small.credits;
        header.kind = static_cast<FabricKind>(small.kind % 12);
        std::memcpy(&header.synchronous, &small.synchronous, 1);
        header.bytes = small.bytes;
        header.receive = small.receive, header.writes = small.writes;
        auto const body = input_.take_bytes(small.body);
        std::vector<std::byte> message(sizeof header);
        std::memcpy(message.data(), &header, sizeof header);
        message.insert(message.end(), body.begin(), body.end());
        fabric_.take(message);
    }
    void start(std::uint64_t context, bool sends) {
        auto const about = input_.take<std::uint8_t>();
        std::size_t const bytes = std::size_t{about} / 16 * 100;
        auto& memory = *memory_.emplace_back(std::make_unique<std::vector<std::byte>>(bytes));
        int const tag = about % 4;
        bool const has_parts = (about & 4) != 0;
        if (!sends) {
            auto const target = has_parts ? std::span(target_) : std::span<std::byte>{};
            messages_.push_back(fabric_.start_recv(peer_, context, tag, memory, target));
            return;
        }
        auto const parts = has_parts ? std::span(&part_, 1) : std::span<PlacedPart const>{};
        messages_.push_back(
            fabric_.start_send(peer_, context, tag, memory, (about & 8) != 0, parts));
    }
    void end_writes() {
        auto const ended = std::exchange(wire_.writes, {});
        for (void* const write : ended) fabric_.end_write(write);
    }

    Input input_;
    StepClock clock_;
    Wire& wire_ = *new Wire;  // The fabric owns it.
    Fabric fabric_{std::unique_ptr<FabricWire>(&wire_), clock_};
    FabricIndex peer_ = 0;
    std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
    std::vector<std::byte> target_ = std::vector<std::byte>(600);
    PlacedPart part_{.memory = target_.data(), .at = 0, .length = 600};
    std::vector<Message> messages_;
};

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::Steps({data, size}).go();
    return 0;
}
