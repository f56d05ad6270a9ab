// One message for each descriptor. See keeper_line.hpp.
#include "behind/keeper_line.hpp"

#include "behind/unfinished_marks.hpp"
#include "system/fd_passing.hpp"

#include <span>
#include <unistd.h>

namespace sluice {
namespace {

enum class Handed : std::uint32_t { marks = 1, file, back };

struct HandedMessage {
    Handed what = Handed::marks;
    std::uint32_t reserved = 0;
    FileIdentity file;
};

bool send(int socket, HandedMessage content, std::span<int const> descriptors) noexcept {
    iovec bytes{&content, sizeof content};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    return socket >= 0 &&
           send_with_descriptors(socket, message, descriptors, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

bool KeeperLine::give_marks(FileIdentity const& file, int descriptor) const noexcept {
    return send(socket_, {.what = Handed::marks, .file = file}, {&descriptor, 1});
}

bool KeeperLine::give_file(FileIdentity const& file, int descriptor) const noexcept {
    return send(socket_, {.what = Handed::file, .file = file}, {&descriptor, 1});
}

void KeeperLine::take_back(FileIdentity const& file) const noexcept {
    (void)send(socket_, {.what = Handed::back, .file = file}, {});
}

void HandedOver::take() {
    while (socket_.get() >= 0) {
        HandedMessage message;
        std::vector<int> descriptors;
        long const bytes =
            receive_with_descriptors(socket_.get(), {&message, sizeof message}, descriptors);
        if (bytes < 0) return;
        if (bytes == 0) socket_.reset();
        Descriptor given(descriptors.empty() ? -1 : descriptors.front());
        if (bytes != sizeof message) continue;
        if (message.what == Handed::back) {
            files_.erase(message.file);
            marks_.erase(message.file);
        } else if (given.get() >= 0 && message.what == Handed::marks) {
            marks_.emplace(message.file, std::move(given));
        } else if (given.get() >= 0) {
            files_.insert_or_assign(message.file, std::move(given));
        }
    }
}

void HandedOver::end_marks() {
    for (auto const& [file, marks] : marks_) {
        bool const of_node = file == FileIdentity{};
        MarkTable::end(marks.get(), of_node);
    }
    marks_.clear();
}

int HandedOver::file(FileIdentity const& file) const {
    auto const found = files_.find(file);
    return found == files_.end() ? -1 : found->second.get();
}

std::pair<Descriptor, Descriptor> new_keeper_line() noexcept {
    int both[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both) != 0) return {};
    int const yes = 1;
    setsockopt(both[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
    return {Descriptor(both[0]), Descriptor(both[1])};
}

}  // namespace sluice
