/* Starts a program for which the kernel refuses system calls, as an older kernel or a container
 * does:
 *
 *     without memfd_create=ENOSYS fallocate=EPERM -- PROGRAM [ARGUMENT ...]
 *
 * A name may stand for several calls, or for some arguments of one. All that the program starts
 * inherits it. Exit code 77: filters are not allowed here. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum { any = -1, skipped = 77, rules_max = 32 };

/* What can be refused: a call's number, and what its second argument is (any: whatever it is). */
static const struct {
    const char* name;
    int number, second;
} calls[] = {
    {"memfd_create", SYS_memfd_create, any},
    {"fallocate", SYS_fallocate, any},
    {"sched_setaffinity", SYS_sched_setaffinity, any},
    {"sched_getaffinity", SYS_sched_getaffinity, any},
    {"statx", SYS_statx, any},
    {"statfs", SYS_statfs, any},
    {"statfs", SYS_fstatfs, any},
    {"getxattr", SYS_getxattr, any},
    {"getxattr", SYS_fgetxattr, any},
    {"sockets", SYS_socket, any},
    {"copy_file_range", SYS_copy_file_range, any},
    {"process_vm", SYS_process_vm_readv, any},
    {"process_vm", SYS_process_vm_writev, any},
    {"fadvise", SYS_fadvise64, any},
    /* Locks that belong to the descriptor. */
    {"ofd_locks", SYS_fcntl, F_OFD_SETLK},
    {"ofd_locks", SYS_fcntl, F_OFD_SETLKW},
    {"ofd_locks", SYS_fcntl, F_OFD_GETLK},
};
static const struct {
    const char* name;
    int value;
} errors[] = {{"ENOSYS", ENOSYS}, {"EPERM", EPERM},   {"EACCES", EACCES},        {"EINVAL", EINVAL},
              {"ENOSPC", ENOSPC}, {"ENOMEM", ENOMEM}, {"EOPNOTSUPP", EOPNOTSUPP}};

static struct sock_filter program[8 + 5 * rules_max];
static unsigned short length = 0;

static void add(unsigned code, unsigned value, int if_true, int if_false) {
    program[length++] = (struct sock_filter){(unsigned short)code, (unsigned char)if_true,
                                             (unsigned char)if_false, value};
}

static void refuse(int number, int second, int error) {
    const unsigned answer = SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, second == any ? 1 : 3);
    if (second != any) {
        add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]), 0, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)second, 0, 1);
    }
    add(BPF_RET | BPF_K, answer, 0, 0);
}

static int error_named(const char* name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (strcmp(errors[i].name, name) == 0) return errors[i].value;
    fprintf(stderr, "without: no error %s\n", name);
    exit(2);
}

static void refuse_named(char* word) {
    char* const equals = strchr(word, '=');
    int known = 0;
    if (equals) *equals = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        if (strcmp(calls[i].name, word) != 0) continue;
        if (length + 8 > (int)(sizeof program / sizeof *program)) exit(2);
        refuse(calls[i].number, calls[i].second, error_named(equals ? equals + 1 : "ENOSYS"));
        known = 1;
    }
    if (known) return;
    fprintf(stderr, "without: no call %s\n", word);
    exit(2);
}

int main(int argc, char** argv) {
    int at = 1;
#ifdef OWN_ARCHITECTURE
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
#endif
    for (; at < argc && strcmp(argv[at], "--") != 0; ++at) refuse_named(argv[at]);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    if (at + 1 >= argc) {
        fprintf(stderr, "usage: without CALL[=ERROR] ... -- PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    const struct sock_fprog filter = {length, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0 ||
        prctl(PR_SET_SECCOMP, (long)SECCOMP_MODE_FILTER, &filter, 0L, 0L) != 0) {
        perror("without");
        return skipped;
    }
    execvp(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 127;
}
