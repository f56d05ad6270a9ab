// How the messages of an exchange are sent and received. See message_effects.hpp.
#include "file/run/message_effects.hpp"

#include "file/run/node_cb_buffers.hpp"

namespace sluice {
namespace {

/// Tags of different operation queues, channels and rounds under way differ. MPI grants tags up to
/// 32767 at least: 128 operation queues x 8 channels x 16 rounds fit.
constexpr int channels = 8, rounds_apart = 16;
static_assert(static_cast<int>(Channel::collective) == channels, "files have those before it");

/// Where a message comes from or goes to.
Memory message_role(Op const& op) noexcept {
    return op.kind == OpKind::send ? op.source : op.target;
}

}  // namespace

int MessageEffects::tag(Op const& op) const noexcept {
    int const channel = static_cast<int>(op.channel);
    std::int64_t const number = state_.message_number(op);
    return (execution_context_.queue * channels + channel) * rounds_apart +
           static_cast<int>(number % rounds_apart);
}

std::span<std::byte> MessageEffects::memory_of(Op const& op) {
    if (is_of_reduction(op)) {
        return state_.with_records(
            op, [&](auto& records) { return records.message(message_role(op)); });
    }
    ByteBuffer& buffer = state_.messages[MessageKey(op)];
    if (op.kind == OpKind::recv) {
        buffer.clear();  // Or what an earlier message left would be copied where it has to grow.
        buffer.resize(static_cast<std::size_t>(op.bytes));
    }
    return buffer;
}

void MessageEffects::start(Op const& op, Effect& effect) {
    auto const memory = memory_of(op);
    effect.began = state_.trace.time(*execution_context_.clock);
    if (!is_of_reduction(op)) state_.messages_under_way.begin(execution_context_.clock->now());
    Network& network = *execution_context_.network;
    if (op.kind == OpKind::send) {
        effect.message = send(op, memory);
    } else if (auto const target = target_of_parts(op, memory); !target.empty()) {
        effect.message = network.start_placing_recv(op.peer, tag(op), memory, target);
    } else {
        effect.message = network.start_recv(op.peer, tag(op), memory);
    }
}

/// Null where a message that is sent has no parts beside it.
Packed const* MessageEffects::parts_beside(Op const& op) const {
    if (is_of_reduction(op)) return nullptr;
    auto const found = state_.placing.find(MessageKey(op));
    return found == state_.placing.end() ? nullptr : &found->second;
}

/// Parts included.
Bytes MessageEffects::bytes_of(Op const& op, Message const& message) {
    if (op.kind == OpKind::recv) return message.received + message.placed;
    Packed const* const packed = parts_beside(op);
    return packed ? packed->bytes() : static_cast<Bytes>(memory_of(op).size());
}

Message MessageEffects::send(Op const& op, std::span<std::byte const> memory) {
    Network& network = *execution_context_.network;
    state_.tally.messages_sent += 1;
    Packed const* const packed = parts_beside(op);
    if (!packed) {
        state_.tally.bytes_sent += static_cast<Bytes>(memory.size());
        return network.start_send(op.peer, tag(op), memory, op.synchronous);
    }
    state_.tally.bytes_sent += packed->bytes();
    state_.tally.bytes_placed += packed->bytes() - static_cast<Bytes>(packed->head_bytes);
    return network.start_placing_send(op.peer, tag(op), memory.first(packed->head_bytes),
                                      packed->parts);
}

/// Where parts of a message go: to their places in the collective buffer or, of one that the rank
/// takes for itself, in the message. Nothing for messages that have no parts.
std::span<std::byte> MessageEffects::target_of_parts(Op const& op, std::span<std::byte> memory) {
    bool const has_data = op.channel == Channel::data || op.channel == Channel::answer;
    if (!has_data || !execution_context_.network->places() || op.bytes < placed_part_bytes_least)
        return {};
    if (op.channel == Channel::answer && state_.plan.one_layer()) return memory;
    return {cb_buffer_of(execution_context_, state_, op).data,
            static_cast<std::size_t>(state_.plan.window_bytes)};
}

void MessageEffects::finish(Op const& op, Effect const& effect) {
    Message const& message = effect.message;
    if (message.failed()) state_.fail(message.error(op.peer));
    if (state_.trace.on())
        state_.trace.message(
            op, state_.message_number(op), bytes_of(op, message),
            {execution_context_.self, effect.began, state_.trace.time(*execution_context_.clock)});
    if (is_of_reduction(op)) {
        if (message.failed())
            state_.with_records(op, [&](auto& records) { records.fail(message_role(op)); });
        return;
    }
    state_.messages_under_way.end(execution_context_.clock->now());
    if (op.kind == OpKind::send) {
        state_.placing.erase(MessageKey(op));
        state_.messages.drop(MessageKey(op));
    } else {
        bool const in_message = op.channel == Channel::answer && state_.plan.one_layer();
        if (message.placed > 0 && !in_message) state_.placed[MessageKey(op)] = message.placed;
        Bytes const bytes = message.received + (in_message ? message.placed : 0);
        state_.messages[MessageKey(op)].resize(static_cast<std::size_t>(bytes));
    }
}

}  // namespace sluice
