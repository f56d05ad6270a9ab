// The folder FILE.parts, in which each rank of a job has a file of its own, named by its number,
// until the parts become FILE. Others may be able to write where it lies, and somebody may keep a
// folder of this name: no link is followed, and nothing is changed that is not a part of this
// user's.
#pragma once
#include "system/descriptor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Whether the file begins with this text.
[[nodiscard]] bool begins_with(int fd, std::string_view start);

class PartsFolder {
public:
    /// `start`: the first bytes of each part.
    PartsFolder(std::string const& file, std::string_view start)
        : path_(path_of(file)),
          start_(start) {}

    [[nodiscard]] static std::string path_of(std::string const& file) { return file + ".parts"; }
    [[nodiscard]] std::string path_of(std::int64_t rank) const {
        return path_ + "/" + std::to_string(rank);
    }

    /// The part of a rank, to be read and written: a new one, which is empty, or the one that an
    /// earlier job left. Makes the folder where there is none. Nothing, and `why`: the system
    /// refuses, or what is there is not this user's folder, or not a part.
    [[nodiscard]] Descriptor open(std::int64_t rank, std::string& why) const;

    /// A new file of another name in the folder, in place of one that is there.
    [[nodiscard]] Descriptor create(std::string const& name, std::string& why) const;

    /// The ranks of the parts that are there, in no order.
    [[nodiscard]] std::vector<std::int64_t> ranks() const;

    /// To read it. Nothing where it is not a part.
    [[nodiscard]] Descriptor find(std::int64_t rank) const;

    /// Removes the file of this name, and the folder if it is empty then.
    void remove(std::string const& name) const;
    /// Removes all parts but that of one rank, and the folder if it is empty then.
    void remove_parts(std::optional<std::int64_t> but = std::nullopt) const;

private:
    [[nodiscard]] Descriptor folder() const;
    /// Nothing, and `why`: it is not there, or not this user's.
    [[nodiscard]] Descriptor own_folder(std::string& why) const;
    [[nodiscard]] bool holds_part(int fd) const;

    std::string path_;
    std::string_view start_;
};

}  // namespace sluice
