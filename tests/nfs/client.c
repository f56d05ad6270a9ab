/* Mounts a folder of an NFS server by FUSE, for machines on which the kernel has no client of NFS:
 * `client URL FOLDER`, with a URL as libnfs knows them. As with that client, names and attributes
 * are kept for three seconds, and what is written as well, until a flush, a close, or when the
 * kernel likes: errors come then. One thread asks the server. */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <nfsc/libnfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <time.h>

#define KEPT_SECONDS 3.0

static struct nfs_context* server;

static struct nfsfh* handle_of(struct fuse_file_info const* file) {
    return (struct nfsfh*)(uintptr_t)file->fh;
}

static void take(struct stat* to, struct nfs_stat_64 const* from) {
    *to = (struct stat){.st_ino = from->nfs_ino,
                        .st_mode = (mode_t)from->nfs_mode,
                        .st_nlink = from->nfs_nlink,
                        .st_uid = (uid_t)from->nfs_uid,
                        .st_gid = (gid_t)from->nfs_gid,
                        .st_size = (off_t)from->nfs_size,
                        .st_blksize = 4096,
                        .st_blocks = (blkcnt_t)((from->nfs_used + 511) / 512)};
    to->st_atim = (struct timespec){(time_t)from->nfs_atime, (long)from->nfs_atime_nsec};
    to->st_mtim = (struct timespec){(time_t)from->nfs_mtime, (long)from->nfs_mtime_nsec};
    to->st_ctim = (struct timespec){(time_t)from->nfs_ctime, (long)from->nfs_ctime_nsec};
}

static void* begin(struct fuse_conn_info* connection, struct fuse_config* config) {
    config->use_ino = 1;
    config->entry_timeout = config->attr_timeout = KEPT_SECONDS;
    connection->want |= FUSE_CAP_WRITEBACK_CACHE;
    return NULL;
}

static int get_attributes(char const* path, struct stat* to, struct fuse_file_info* file) {
    struct nfs_stat_64 found;
    int const code =
        file ? nfs_fstat64(server, handle_of(file), &found) : nfs_lstat64(server, path, &found);
    if (code == 0) take(to, &found);
    return code;
}

/* The kernel reads the rest of a page that it writes: never for writing alone. */
static int mode_of(int flags) { return (flags & O_ACCMODE) == O_RDONLY ? O_RDONLY : O_RDWR; }

static int open_file(char const* path, struct fuse_file_info* file) {
    struct nfsfh* handle = NULL;
    int const code = nfs_open(server, path, mode_of(file->flags), &handle);
    file->fh = (uintptr_t)handle;
    return code == 0 && (file->flags & O_TRUNC) ? nfs_ftruncate(server, handle, 0) : code;
}

static int create_file(char const* path, mode_t mode, struct fuse_file_info* file) {
    struct nfsfh* handle = NULL;
    int const flags = O_CREAT | O_RDWR | (file->flags & O_EXCL);
    int const code = nfs_create(server, path, flags, (int)(mode & 07777), &handle);
    file->fh = (uintptr_t)handle;
    return code;
}

static int read_bytes(char const* path, char* to, size_t bytes, off_t at,
                      struct fuse_file_info* file) {
    (void)path;
    return nfs_pread(server, handle_of(file), (uint64_t)at, bytes, to);
}

static int write_bytes(char const* path, char const* from, size_t bytes, off_t at,
                       struct fuse_file_info* file) {
    (void)path;
    return nfs_pwrite(server, handle_of(file), (uint64_t)at, bytes, from);
}

static int sync_file(char const* path, int data_only, struct fuse_file_info* file) {
    (void)path, (void)data_only;
    return nfs_fsync(server, handle_of(file));
}

static int flush_file(char const* path, struct fuse_file_info* file) {
    return (file->flags & O_ACCMODE) == O_RDONLY ? 0 : sync_file(path, 1, file);
}

static int release_file(char const* path, struct fuse_file_info* file) {
    (void)path;
    return nfs_close(server, handle_of(file));
}

static int resize(char const* path, off_t bytes, struct fuse_file_info* file) {
    return file ? nfs_ftruncate(server, handle_of(file), (uint64_t)bytes)
                : nfs_truncate(server, path, (uint64_t)bytes);
}

static int read_folder(char const* path, void* to, fuse_fill_dir_t fill, off_t at,
                       struct fuse_file_info* file, enum fuse_readdir_flags flags) {
    (void)at, (void)file, (void)flags;
    struct nfsdir* folder = NULL;
    int const code = nfs_opendir(server, path, &folder);
    if (code != 0) return code;
    struct nfsdirent* entry;
    while ((entry = nfs_readdir(server, folder)) != NULL)
        fill(to, entry->name, NULL, 0, (enum fuse_fill_dir_flags)0);
    nfs_closedir(server, folder);
    return 0;
}

static int make_folder(char const* path, mode_t mode) {
    return nfs_mkdir2(server, path, (int)mode);
}

static int remove_folder(char const* path) { return nfs_rmdir(server, path); }
static int remove_name(char const* path) { return nfs_unlink(server, path); }

static int rename_file(char const* from, char const* to, unsigned flags) {
    return flags ? -EINVAL : nfs_rename(server, from, to);
}

static int change_mode(char const* path, mode_t mode, struct fuse_file_info* file) {
    (void)file;
    return nfs_chmod(server, path, (int)mode);
}

static int change_owner(char const* path, uid_t user, gid_t group, struct fuse_file_info* file) {
    (void)file;
    return nfs_lchown(server, path, (int)user, (int)group);
}

/* The server's clock is that of the machine. */
static int change_times(char const* path, struct timespec const times[2],
                        struct fuse_file_info* file) {
    struct stat now;
    struct timeval all[2];
    int const code = get_attributes(path, &now, file);
    if (code != 0) return code;
    for (int i = 0; i < 2; ++i) {
        struct timespec time = times[i];
        if (time.tv_nsec == UTIME_NOW) clock_gettime(CLOCK_REALTIME, &time);
        if (time.tv_nsec == UTIME_OMIT) time = i == 0 ? now.st_atim : now.st_mtim;
        all[i] = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    }
    return nfs_utimes(server, path, all);
}

static int tell_room(char const* path, struct statvfs* to) { return nfs_statvfs(server, path, to); }

static struct fuse_operations const operations = {.init = begin,
                                                  .getattr = get_attributes,
                                                  .open = open_file,
                                                  .create = create_file,
                                                  .read = read_bytes,
                                                  .write = write_bytes,
                                                  .fsync = sync_file,
                                                  .flush = flush_file,
                                                  .release = release_file,
                                                  .truncate = resize,
                                                  .readdir = read_folder,
                                                  .mkdir = make_folder,
                                                  .rmdir = remove_folder,
                                                  .unlink = remove_name,
                                                  .rename = rename_file,
                                                  .chmod = change_mode,
                                                  .chown = change_owner,
                                                  .utimens = change_times,
                                                  .statfs = tell_room};

static int failed(char const* what) {
    fprintf(stderr, "client: %s: %s\n", what, nfs_get_error(server));
    return 1;
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: client URL FOLDER\n");
        return 2;
    }
    server = nfs_init_context();
    if (!server) return 1;
    struct nfs_url* const url = nfs_parse_url_dir(server, argv[1]);
    if (!url) return failed("the URL");
    if (nfs_mount(server, url->server, url->path) != 0) return failed("mounting");
    char* words[] = {argv[0],
                     (char*)"-f",
                     (char*)"-s",
                     (char*)"-o",
                     (char*)"allow_other,default_permissions,fsname=nfs",
                     argv[2],
                     NULL};
    return fuse_main(6, words, &operations, NULL);
}
