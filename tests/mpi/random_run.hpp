// Carries out a random program on this rank.
#pragma once
#include "random_file.hpp"
#include "random_joint.hpp"

namespace random_test {

class Run {
public:
    Run(Settings const& settings, Communicators const& communicators, Program const& program)
        : settings_(settings),
          program_(program),
          pending_(program.seed, settings.trace) {
        now_at(program.seed, -1, "open");
        for (auto const& plan : program.files) {
            int const index = static_cast<int>(files_.size());
            if (plan.others.empty())
                files_.push_back(std::make_unique<OpenFile>(
                    settings, program, index, communicators.of(plan.group), pending_, counts_));
            else
                files_.push_back(std::make_unique<JointFile>(settings, program, index,
                                                             communicators, pending_, counts_));
        }
        if (files_.size() > 1) counts_.note(Counts::files);
    }

    Counts run() {
        for (auto const& step : program_.steps) {
            if (!settings_.only_steps.empty() &&
                !settings_.only_steps.contains(std::to_string(step.number))) {
                continue;
            }
            if (!settings_.has(std::string(name_of(step.kind)))) continue;
            now_at(program_.seed, step.number, name_of(step.kind));
            do_step(step);
        }
        finish();
        return counts_;
    }

private:
    Random own(int step) const { return {program_.seed, {step, 5, check::rank()}}; }

    void do_step(Step const& step) {
        Random random = own(step.number);
        switch (step.kind) {
        case Kind::complete:
            return pending_.complete(some(random), random, step.number);
        case Kind::poke:
            return pending_.poke(some(random), random, step.number);
        case Kind::get_status:
            return get_status(random);
        case Kind::message:
            return message(step.number);
        case Kind::traffic:
            return traffic(step.number);
        case Kind::work:
            return work(random, step.number);
        default:
            files_[static_cast<std::size_t>(step.file)]->step(step);
        }
    }

    void finish() {
        int const last = static_cast<int>(program_.steps.size());
        now_at(program_.seed, last, "end");
        Random random = own(last);
        pending_.complete(some(random), random, last);
        for (auto const& file : files_) file->finish(last);
        pending_.complete(pending_.all(), random, last);
    }

    PendingList some(Random& random) const {
        int const percent = random.one_of({40, 70, 100});
        return pending_.those([&](Pending const&) { return random.chance(percent); });
    }

    /// Looks at the status of a request without completing it.
    void get_status(Random& random) const {
        auto const all = pending_.all();
        if (all.empty()) return;
        auto const& pending = all[random.below(all.size())];
        MPI_Status status{};
        int flag = 0;
        check::ok(MPI_Request_get_status(pending->request, &flag, &status), "get_status");
    }

    /// A receive and a send around the ring; they stay pending among the requests of files.
    void message(int step) {
        static constexpr int messages_tag = 1000;
        auto const bytes = Random(program_.seed, {step, 6}).one_of({8, 3000, 100000});
        int const size = check::size(), from = (check::rank() + size - 1) % size;
        trace(settings_.trace, step, "message of " + std::to_string(bytes) + " bytes");
        auto in = std::make_shared<model::Bytes>(static_cast<std::size_t>(bytes));
        auto out = std::make_shared<model::Bytes>(
            model::data_of(program_.seed, check::rank(), step, bytes));
        Pending receive, send;
        receive.step = send.step = step;
        receive.name = "message in", send.name = "message out";
        MPI_Irecv(in->data(), bytes, MPI_BYTE, from, messages_tag + step, MPI_COMM_WORLD,
                  &receive.request);
        MPI_Isend(out->data(), bytes, MPI_BYTE, (check::rank() + 1) % size, messages_tag + step,
                  MPI_COMM_WORLD, &send.request);
        auto const seed = program_.seed;
        receive.finished = [in, from, step, seed](MPI_Status&) {
            auto const expected =
                model::data_of(seed, from, step, static_cast<std::int64_t>(in->size()));
            check::same_bytes(expected, *in, "message");
        };
        send.finished = [out](MPI_Status&) {};
        pending_.add(std::move(receive));
        pending_.add(std::move(send));
    }

    void traffic(int step) const {
        int sum = 1, in = 0, out = check::rank();
        int const size = check::size(), next = (out + 1) % size, last = (out + size - 1) % size;
        switch (Random(program_.seed, {step, 7}).below(4)) {
        case 0:
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 1:
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            check::is_equal(size, sum, "sum");
            break;
        case 2:
            MPI_Bcast(&out, 1, MPI_INT, step % size, MPI_COMM_WORLD);
            check::is_equal(step % size, out, "broadcast");
            break;
        default:
            MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, last, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            check::is_equal(last, in, "sendrecv");
        }
    }

    /// Some ranks compute or sleep, so that the others are ahead.
    void work(Random& random, int step) const {
        if (random.chance(50)) return;
        auto const microseconds = random.between(0, 2000);
        trace(settings_.trace, step, "works " + std::to_string(microseconds) + " us");
        if (random.chance(50)) {
            ::usleep(static_cast<useconds_t>(microseconds));
            return;
        }
        double const until = MPI_Wtime() + 1e-6 * microseconds;
        while (MPI_Wtime() < until) {
        }
    }

    Settings const& settings_;
    Program const& program_;
    PendingRequests pending_;
    Counts counts_;
    std::vector<std::unique_ptr<AnyFile>> files_;
};

}  // namespace random_test
