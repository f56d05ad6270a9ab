// Messages of a process that is not of the job, and reaches the port of one that is, over libfabric
// itself. Left out where this machine has no provider.
#include "transport/fabric.hpp"
#include "transport/fabric_offers.hpp"

#include <gtest/gtest.h>

#ifdef SLUICE_HAVE_LIBFABRIC
#include "system/clock.hpp"
#include "transport/libfabric_endpoint.hpp"

namespace sluice::fabric_strangers_test {
namespace {

/// Knows the address of a process, and nothing else of it.
class Stranger {
public:
    Stranger(FabricLibrary const& library, std::string const& provider, FabricCard const& victim)
        : found_(fabric_info(library, provider)) {
        fi_info* const info = nearest_interface(found_.get());
        open(fabric_, [&](auto* fid) { return library.open_fabric(info->fabric_attr, fid, {}); });
        open(domain_, [&](auto* fid) { return fi_domain(fabric_.get(), info, fid, {}); });
        fi_av_attr table{};
        table.type = FI_AV_TABLE;
        open(addresses_, [&](auto* fid) { return fi_av_open(domain_.get(), &table, fid, {}); });
        fi_cq_attr queue{};
        queue.format = FI_CQ_FORMAT_DATA, queue.wait_obj = FI_WAIT_NONE;
        open(queue_, [&](auto* fid) { return fi_cq_open(domain_.get(), &queue, fid, {}); });
        open(endpoint_, [&](auto* fid) { return fi_endpoint(domain_.get(), info, fid, {}); });
        is_open_ = is_open_ && fi_ep_bind(endpoint_.get(), &addresses_->fid, 0) == 0 &&
                   fi_ep_bind(endpoint_.get(), &queue_->fid, FI_TRANSMIT | FI_RECV) == 0 &&
                   fi_enable(endpoint_.get()) == 0 &&
                   fi_av_insert(addresses_.get(), victim.address.data(), 1, &to_, 0, {}) == 1;
    }
    ~Stranger() { endpoint_.reset(); }

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

    /// A message with the data that come with a write. False: the provider has no room yet.
    bool send(std::uint64_t data) {
        look();
        return fi_senddata(endpoint_.get(), text_.data(), text_.size(), nullptr, data, to_,
                           &context_) == 0;
    }
    void look() {
        fi_cq_data_entry done{};
        (void)fi_cq_read(queue_.get(), &done, 1);
    }

private:
    template <class Fid, class Open> void open(Owned<Fid>& into, Open const& call) {
        Fid* fid = nullptr;
        is_open_ = is_open_ && call(&fid) == 0;
        into.reset(is_open_ ? fid : nullptr);
    }

    FabricLibrary::Info found_;
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> addresses_;
    Owned<fid_cq> queue_;
    Owned<fid_ep> endpoint_;
    fi_addr_t to_ = 0;
    bool is_open_ = true;
    std::string text_ = std::string(200, 'x');
    fi_context2 context_{};
};

/// Goes on until `is_over`, or for so many seconds.
template <class Over>
bool progress(std::vector<Fabric*> const& ends, double seconds, Over is_over) {
    SteadyClock clock;
    for (double const end = clock.now() + seconds; clock.now() < end;) {
        if (is_over()) return true;
        for (Fabric* const fabric : ends) fabric->progress();
    }
    return is_over();
}

/// Its receive of a long message has shown its memory to the peer, and waits for a write with data.
void expect_no_stranger_ends_a_receive(FabricLibrary const& library, std::string const& provider) {
    constexpr std::uint64_t context = 3;
    std::string why;
    auto const one = Fabric::open({provider, 2, 5}, why),
               other = Fabric::open({provider, 2, 5}, why);
    ASSERT_TRUE(one && other) << why;
    FabricIndex const from = one->meet(other->card()), to = other->meet(one->card());
    std::vector<std::byte> const sent(1 << 20, std::byte{7});
    std::vector<std::byte> got(sent.size());
    Message receive = one->start_recv(from, context, 1, got);
    Stranger stranger(library, provider, one->card());
    ASSERT_TRUE(stranger.is_open());
    std::uint32_t number = 0;  // Of a receive: whichever it is.
    progress({one.get(), other.get()}, 0.3, [&] {
        if (number < 64 && stranger.send(FabricWriteData::pack({number, 10}, 64))) ++number;
        stranger.look();
        return false;
    });
    EXPECT_EQ(number, 64);
    EXPECT_FALSE(one->finished(receive)) << provider;
    Message send = other->start_send(to, context, 1, sent, false);
    EXPECT_TRUE(progress({one.get(), other.get()}, 20,
                         [&] { return one->finished(receive) && other->finished(send); }));
    EXPECT_FALSE(receive.failed() || send.failed()) << provider;
    EXPECT_TRUE(got == sent) << provider;
}

TEST(FabricStrangers, end_no_receive_by_the_data_of_a_message) {
    std::string why;
    FabricLibrary const* const library = FabricLibrary::get(why);
    int tried = 0;
    for (FabricOffer const& offer : fabric_offers().all) {
        if (!library || !offer.why_not.empty() || !offer.is_tested) continue;
        expect_no_stranger_ends_a_receive(*library, offer.provider);
        ++tried;
    }
    if (tried == 0) GTEST_SKIP() << fabric_offers().library;
}

}  // namespace
}  // namespace sluice::fabric_strangers_test
#else
TEST(FabricStrangers, end_no_receive_by_the_data_of_a_message) {
    GTEST_SKIP() << "built without libfabric";
}
#endif
