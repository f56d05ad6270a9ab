// The application kernel "parallel compression" of "Nonblocking collectives over InfiniBand".
#include "study/collective/applications.hpp"
#if defined(SLUICE_HAVE_ZLIB) || defined(SLUICE_HAVE_ZSTD)
#include "study/collective/compression.hpp"
#endif

namespace sluice::collectives {

#if defined(SLUICE_HAVE_ZLIB) || defined(SLUICE_HAVE_ZSTD)
namespace {

/// The paper's way waits for the sizes of each chunk. Others hide that as well: by hand, or as one
/// operation of two stages where Sluice has it.
std::vector<Mover> compression_movers(Job const& job) {
    std::vector<Mover> all;
    bool has_one_operation = false;
    for (auto& mover : movers(job)) {
        if (mover.tests) mover.hides_sizes = true;
        all.push_back(mover);
        if (all.size() <= 2 || mover.tests) continue;
        all.push_back(mover);
        all.back().name += ", sizes too";
        all.back().hides_sizes = true;
        if (!mover.service->gathers_results()) continue;
        has_one_operation = true;
        all.push_back(mover);
        all.back().name += ", one operation";
        all.back().one_operation = true;
    }
    if (!has_one_operation)
        job.report().note("\nwithout sluice_igather_results: no gather as one operation");
    return all;
}

/// Without the folder, which is no one else's business.
std::string name_of_file(std::string const& path) {
    return path.empty() ? "made-up text" : path.substr(path.rfind('/') + 1);
}

}  // namespace

void measure_compression(Job& job) {
    Compression compression(job);
    if (!compression.missing().empty()) {
        job.failed = true;
        return job.report().note("\ncompression: left out: " + compression.missing());
    }
    bench::Json description;
    description.add("file", name_of_file(job.options.file));
    description.add_integer("bytes", compression.bytes());
    description.add_integer("chunk_bytes", job.options.chunk_bytes);
    description.add("codec", job.options.codec);
    description.add("level", double(job.options.level));
    description.add_integer("outstanding", std::uint64_t(job.options.outstanding));
    auto all = compression_movers(job);
    compression.run(all.at(1));
    description.add_integer("compressed_bytes", compression.compressed_bytes());
    if (job.options.asleep) compression.fall_asleep(all.at(0));
    measure_application(
        job, "compression", std::move(all), description,
        [&](Mover const& mover) { return compression.run(mover); },
        [&] { return compression.wrong_bytes(); });
}
#else
void measure_compression(Job& job) {
    job.report().note(
        "\ncompression: left out, it was built without zlib (zlib1g-dev) and zstd (libzstd-dev)");
}
#endif

}  // namespace sluice::collectives
