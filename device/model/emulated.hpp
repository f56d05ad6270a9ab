// Storage on an emulated device: another file moves the bytes, and a transfer is done when the
// device would be done with it. For tests, and for programs under SLUICE_TEST=device=....
#pragma once
#include "device/model/device.hpp"
#include "storage/stored_file.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace sluice {

/// The device of a process, and who waits for it. Outlives its files.
class EmulatedDevice {
public:
    /// With a clock there is no thread: what is due happens in advance(). Without one it is the
    /// system's, and a thread waits.
    explicit EmulatedDevice(DeviceProfile const& profile, Clock* clock = nullptr);
    ~EmulatedDevice();
    EmulatedDevice(EmulatedDevice const&) = delete;
    EmulatedDevice& operator=(EmulatedDevice const&) = delete;

    [[nodiscard]] double now() { return clock_->now(); }
    /// Accesses one after the other, the first of which arrived at `arrival`; calls `then` when the
    /// last is done, in another thread.
    void serve(double arrival, std::span<DeviceAccess const> accesses, std::function<void()> then);
    /// When all is done that was accepted so far. Blocks.
    void flush();
    /// Lets happen what is due. Returns when something is due next; infinity: nothing is.
    double advance();

private:
    struct Due {
        double when;
        std::uint64_t number;  ///< What is due at the same time happens in order.
        std::function<void()> then;
        bool operator>(Due const& o) const noexcept {
            return when != o.when ? when > o.when : number > o.number;
        }
    };
    void at(double when, std::function<void()> then);
    void work();

    std::unique_ptr<Clock> own_clock_;
    Clock* clock_;
    std::mutex mutex_;  ///< Guards the fields below.
    std::condition_variable wake_;
    DeviceClock device_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::uint64_t next_number_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

class EmulatedFile final : public StoredFile {
public:
    /// Opens the file that moves the bytes; it calls `finished` after each transfer.
    using Open = std::function<std::unique_ptr<StoredFile>(std::function<void()> finished)>;

    /// `name`: requests of files with different names never follow one another. `finished` is
    /// called by a thread of the device after each transfer: it rings the rank.
    EmulatedFile(EmulatedDevice& device, std::string const& name, Open const& open,
                 std::function<void()> finished);
    ~EmulatedFile() override;

    void start(Transfer& transfer) override;
    void run(Transfer& transfer) override;
    Error opened() const override { return file_->opened(); }
    Error sync() override;
    Error release() override { return file_->release(); }
    Error preallocate(Bytes bytes) override { return file_->preallocate(bytes); }
    Bytes room() const override { return file_->room(); }

private:
    class Relay;
    struct State;
    std::shared_ptr<State> state_;  ///< Shared with what the other file calls, which may be late.
    std::unique_ptr<StoredFile> file_;
};

}  // namespace sluice
