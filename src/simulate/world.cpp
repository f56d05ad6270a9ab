// Virtual time, mail, files and ranks. See world.hpp.
#include "simulate/world.hpp"

#include <cerrno>
#include <cstring>

namespace sluice::simulated {
namespace {

std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

std::vector<std::int32_t> node_names(WorldShape const& shape) {
    std::vector<std::int32_t> names;
    for (Rank r = 0; r < shape.rank_count; ++r) names.push_back(r / shape.ranks_per_node);
    return names;
}

/// One call to the file: part of what was asked, or an error.
long transfer(File& file, Time& time, Direction direction, iovec const* vectors, int count,
              Offset offset) {
    std::int64_t const number = file.calls++;
    bool const hit = file.fail_at >= 0 &&
                     (number == file.fail_at || (file.fail_forever && number > file.fail_at));
    if (hit) {
        errno = file.fail_errno;
        return -1;
    }
    std::size_t asked = 0;
    for (int i = 0; i < count; ++i) asked += vectors[i].iov_len;
    if (file.short_counts && asked > 1) asked = 1 + time.draw(asked);
    auto const at = static_cast<std::size_t>(offset);
    if (direction == Direction::read) {
        asked = at >= file.bytes.size() ? 0 : std::min(asked, file.bytes.size() - at);
    } else if (file.bytes.size() < at + asked) {
        file.bytes.resize(at + asked);
    }
    std::size_t done = 0;
    for (int i = 0; i < count && done < asked; ++i) {
        std::size_t const part = std::min(vectors[i].iov_len, asked - done);
        std::byte* const here = file.bytes.data() + at + done;
        if (direction == Direction::write)
            std::memcpy(here, vectors[i].iov_base, part);
        else
            std::memcpy(vectors[i].iov_base, here, part);
        done += part;
    }
    return static_cast<long>(done);
}

}  // namespace

void Time::later(double seconds_max, std::function<void()> what) {
    double const part = static_cast<double>(draw(1u << 20)) / (1u << 20);
    events_.push({now_ + part * seconds_max, number_++, std::move(what)});
}

bool Time::run(std::int64_t events_max) {
    while (!events_.empty()) {
        if (events_max-- == 0) return false;
        Event event = events_.top();
        events_.pop();
        now_ = event.when;
        event.what();
    }
    return true;
}

/// Messages under way, matched in the order of their starts.
struct World::Mail {
    using Key = std::tuple<Rank, Rank, int>;  ///< From, to, tag.
    struct Half {
        Rank rank;
        std::uint64_t handle;
        std::span<std::byte const> source;
        std::span<std::byte> target;
    };
    struct Done {
        bool finished = false;
        Bytes received = 0;
    };
    std::map<Key, std::deque<Half>> sends, recvs;
    std::vector<Done> states;

    std::uint64_t add() {
        states.emplace_back();
        return states.size() - 1;
    }
};

class World::RankBells final : public Bells {
public:
    RankBells(World& world, Rank self) : world_(world), self_(self) {}
    void ring(Rank local) override {
        world_.wake(world_.topology_.rank_at(world_.topology_.node_of(self_), local));
    }

private:
    World& world_;
    Rank self_;
};

class World::RankNetwork final : public Network {
public:
    RankNetwork(World& world, Rank self) : world_(world), self_(self) {}
    Message start_send(Rank peer, int tag, std::span<std::byte const> bytes, bool) override {
        return start({self_, peer, tag}, {self_, world_.mail_->add(), bytes, {}}, true);
    }
    Message start_recv(Rank peer, int tag, std::span<std::byte> bytes) override {
        return start({peer, self_, tag}, {self_, world_.mail_->add(), {}, bytes}, false);
    }
    bool finished(Message& message) override {
        auto const& state = world_.mail_->states[message.handle];
        message.received = state.received;
        return state.finished;
    }

private:
    Message start(Mail::Key key, Mail::Half half, bool is_send) {
        Mail& mail = *world_.mail_;
        (is_send ? mail.sends : mail.recvs)[key].push_back(half);
        auto &sends = mail.sends[key], &recvs = mail.recvs[key];
        if (!sends.empty() && !recvs.empty()) {
            deliver(sends.front(), recvs.front());
            sends.pop_front();
            recvs.pop_front();
        }
        return {half.handle, 0, false};
    }
    void deliver(Mail::Half send, Mail::Half recv) {
        if (recv.target.size() < send.source.size()) throw std::length_error("message truncated");
        World& world = world_;
        world.time_.later(world.shape_.delay_seconds, [&world, send, recv] {
            std::memcpy(recv.target.data(), send.source.data(), send.source.size());
            world.mail_->states[recv.handle] = {true, static_cast<Bytes>(send.source.size())};
            world.mail_->states[send.handle] = {true, 0};
            world.wake(send.rank);
            world.wake(recv.rank);
        });
    }

    World& world_;
    Rank self_;
};

class World::RankStorage final : public Storage {
public:
    RankStorage(World& world, Rank self, File& file) : world_(world), self_(self), file_(file) {}
    void run(Transfer& what) override {
        transfer_all(what, [this](Direction way, iovec const* vectors, int count, Offset offset) {
            return transfer(file_, world_.time_, way, vectors, count, offset);
        });
    }
    void start(Transfer& what) override {
        world_.time_.later(world_.shape_.delay_seconds, [this, &what] {
            run(what);
            what.done = true;
            world_.wake(self_);
        });
    }

private:
    World& world_;
    Rank self_;
    File& file_;
};

struct World::RankState {
    RankState(World& world, Rank self) : bells(world, self), network(world, self) {}
    RankBells bells;
    RankNetwork network;
    std::vector<std::unique_ptr<Site>> sites;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<RankStorage>> storages;
    bool awake = false;
};

World::World(WorldShape shape, std::uint64_t seed)
    : shape_(shape),
      time_(seed),
      topology_(node_names(shape)),
      files_(index(shape.stream_count)),
      mail_(std::make_unique<Mail>()) {
    windows_.resize(index(shape.stream_count));
    for (auto& nodes : windows_) nodes.resize(index(topology_.node_count()));
    for (Rank r = 0; r < shape.rank_count; ++r) {
        auto rank = std::make_unique<RankState>(*this, r);
        Node const node = topology_.node_of(r);
        for (std::int32_t s = 0; s < shape.stream_count; ++s) {
            WindowShape const window{topology_.local_count(node),
                                     std::min(shape.aggregators, topology_.aggregator_count_max()),
                                     shape.slot_bytes};
            auto& memory = windows_[index(s)][index(node)];
            memory.resize(NodeWindow::bytes_needed(window) + 64);
            auto const odd = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
            auto site = std::make_unique<Site>();
            site->topology = &topology_, site->self = r, site->stream = s;
            site->window = NodeWindow(memory.data() + (64 - odd), window);
            site->bells = &rank->bells, site->network = &rank->network, site->clock = &time_;
            site->limits.aggregator_count = window.aggregator_count;
            site->reserve = [bytes = shape.slot_bytes](std::int32_t, Bytes) { return bytes; };
            rank->streams.push_back(std::make_unique<Stream>(*site));
            rank->sites.push_back(std::move(site));
            rank->storages.push_back(std::make_unique<RankStorage>(*this, r, files_[index(s)]));
        }
        ranks_.push_back(std::move(rank));
    }
}

World::~World() = default;

Storage& World::storage(Rank rank, std::int32_t stream) {
    return *ranks_[index(rank)]->storages[index(stream)];
}

std::shared_ptr<Operation> World::call(Rank rank, std::int32_t stream, Call what) {
    what.storage = &storage(rank, stream);
    Stream& target = *ranks_[index(rank)]->streams[index(stream)];
    auto operation = target.make(std::move(what));
    target.append(operation);
    wake(rank);
    return operation;
}

void World::wake(Rank rank) {
    if (std::exchange(ranks_[index(rank)]->awake, true)) return;
    time_.later(shape_.delay_seconds, [this, rank] { progress(rank); });
}

void World::progress(Rank rank) {
    RankState& state = *ranks_[index(rank)];
    state.awake = false;
    for (bool again = true; again;) {
        again = false;
        for (auto& stream : state.streams) again |= stream->progress();
    }
}

std::string World::run() {
    if (!time_.run(200'000'000)) return "the simulation does not end";
    for (auto const& rank : ranks_) {
        for (auto const& stream : rank->streams) {
            if (!stream->idle()) return "stuck: " + stream->describe();
        }
    }
    return {};
}

}  // namespace sluice::simulated
