// Names and attributes of the emulated device's files: a tree of nodes, found by inode number. Used
// by device.cpp only, which answers the kernel; the bytes of a file are device_model.hpp's.
#pragma once
#include <sys/stat.h>

#include <map>
#include <string>

#include "device_model.hpp"

namespace sluice::device {

using Inode = std::uint64_t;
constexpr Inode root_inode = 1;  // FUSE's number for it

struct Node {
    struct stat attributes{};
    Contents contents;
    std::map<std::string, Inode> entries;  // of a directory
    std::uint64_t lookups = 0;             // references that the kernel holds
};
using NodePtr = std::shared_ptr<Node>;

/// Guards everything below, and every field of a Node but its contents.
inline std::mutex tree_mutex;
inline std::map<Inode, NodePtr> nodes;
inline Inode next_inode = root_inode;

inline NodePtr find(Inode inode) {
    std::scoped_lock const lock(tree_mutex);
    auto const found = nodes.find(inode);
    return found == nodes.end() ? nullptr : found->second;
}

inline struct stat attributes_of(Node const& node) {
    auto result = node.attributes;
    if (S_ISREG(result.st_mode)) result.st_size = off_t(node.contents.size());
    result.st_blocks = (result.st_size + 511) / 512;
    result.st_blksize = blksize_t(request_bytes_max);
    return result;
}

inline NodePtr make_node(mode_t mode, uid_t owner, gid_t group) {
    auto node = std::make_shared<Node>();
    auto& a = node->attributes;
    a.st_ino = next_inode++, a.st_mode = mode, a.st_uid = owner, a.st_gid = group;
    a.st_nlink = S_ISDIR(mode) ? 2 : 1;
    clock_gettime(CLOCK_REALTIME, &a.st_mtim);
    a.st_atim = a.st_ctim = a.st_mtim;
    return nodes[a.st_ino] = node;
}

inline void drop_if_unused(Node const& node) {
    if (node.lookups == 0 && node.attributes.st_nlink == 0) nodes.erase(node.attributes.st_ino);
}

}  // namespace sluice::device
