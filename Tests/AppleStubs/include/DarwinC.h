// The parts of Darwin's C library that this package uses, declared by hand: types and names as the manual pages of
// macOS (sections 2 and 3) and POSIX.1-2017 have them. Numbers matter only where code computes with them.
#ifndef DARWINC_H
#define DARWINC_H

#include <stddef.h>
#include <stdint.h>

// types(5), intro(2)
typedef int64_t off_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef int32_t pid_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef intptr_t ssize_t;
typedef uint32_t sigset_t;
typedef uint64_t rlim_t;
typedef long time_t;

struct timespec { time_t tv_sec; long tv_nsec; };

// errno(2); the numbers differ from one another as Darwin's do
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EILSEQ 92
#define ENXIO 6
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define EXDEV 18
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define EMFILE 24
#define ENFILE 23
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EINPROGRESS 36
#define EPROTONOSUPPORT 43
#define ENOTSUP 45
#define ELOOP 62
#define ENAMETOOLONG 63
#define ENOTEMPTY 66
#define ECONNRESET 54
#define EDQUOT 69
#define ESTALE 70
#define ENOSYS 78
#define EOPNOTSUPP 102
int *__error(void);

// sysctlbyname(3)
int sysctlbyname(const char *name, void *old, size_t *old_length, void *new_value, size_t new_length);
char *strerror(int number);

// stat(2): st_mode and st_nlink have 16 bits
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size;
    int64_t st_blocks;
    int32_t st_blksize;
    uint32_t st_flags;
    uint32_t st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
int fstat(int descriptor, struct stat *status);
int lstat(const char *path, struct stat *status);
int stat(const char *path, struct stat *status);
int fstatat(int descriptor, const char *path, struct stat *status, int flag);

// open(2), fcntl(2), flock(2), unlinkat(2)
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define F_SETFD 2
#define F_GETFD 1
#define F_GETFL 3
#define F_SETFL 4
#define F_SETNOSIGPIPE 73
#define FD_CLOEXEC 1
#define F_PREALLOCATE 42
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define F_PUNCHHOLE 99
#define F_ALLOCATEALL 4
#define F_PEOFPOSMODE 3
typedef struct fstore {
    unsigned int fst_flags;
    int fst_posmode;
    off_t fst_offset, fst_length, fst_bytesalloc;
} fstore_t;
typedef struct fpunchhole {
    unsigned int fp_flags, reserved;
    off_t fp_offset, fp_length;
} fpunchhole_t;
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define AT_SYMLINK_NOFOLLOW 0x0020
#define AT_REMOVEDIR 0x0080
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
int close(int descriptor);
ssize_t read(int descriptor, void *bytes, size_t count);
ssize_t write(int descriptor, const void *bytes, size_t count);
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset);
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset);
off_t lseek(int descriptor, off_t offset, int from);
int ftruncate(int descriptor, off_t length);
int fsync(int descriptor);
int access(const char *path, int mode);
#define F_OK 0
int fchmod(int descriptor, mode_t mode);
#define PATH_MAX 1024
ssize_t readlink(const char *path, char *target, size_t count);
int fchown(int descriptor, uid_t user, gid_t group);
int rename(const char *from, const char *to);
int usleep(unsigned int microseconds);
int flock(int descriptor, int operation);
int renameat(int from_directory, const char *from, int to_directory, const char *to);
int linkat(int from_directory, const char *from, int to_directory, const char *to, int flag);
int unlinkat(int directory, const char *path, int flag);
int unlink(const char *path);
int mkdir(const char *path, mode_t mode);
int mkdirat(int directory, const char *path, mode_t mode);
int isatty(int descriptor);
int pipe(int descriptors[2]);
pid_t getpid(void);
int gethostname(char *name, size_t count);
uid_t geteuid(void);
int sched_yield(void);

// directory(3), dir(5)
typedef struct _DIR DIR;
struct dirent {
    uint64_t d_ino, d_seekoff;
    uint16_t d_reclen, d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
DIR *opendir(const char *path);
DIR *fdopendir(int descriptor);
struct dirent *readdir(DIR *directory);
int closedir(DIR *directory);

// statvfs(3), getrlimit(2)
struct statvfs {
    unsigned long f_bsize, f_frsize;
    unsigned int f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
    unsigned long f_fsid, f_flag, f_namemax;
};
int fstatvfs(int descriptor, struct statvfs *status);
int statvfs(const char *path, struct statvfs *status);
struct rlimit { rlim_t rlim_cur, rlim_max; };
#define RLIMIT_NOFILE 8
int getrlimit(int resource, struct rlimit *limit);

// clock_gettime(3)
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC_RAW_APPROX = 5, _CLOCK_MONOTONIC = 6 } clockid_t;
uint64_t clock_gettime_nsec_np(clockid_t clock);
int clock_gettime(clockid_t clock, struct timespec *time);

// sigaction(2), sigprocmask(2), raise(3)
typedef void (*sig_t)(int);
typedef struct __siginfo siginfo_t;
union __sigaction_u {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, siginfo_t *, void *);
};
struct sigaction {
    union __sigaction_u __sigaction_u;
    sigset_t sa_mask;
    int sa_flags;
};
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGPIPE 13
#define SIGXFSZ 25
#define SIGTERM 15
#define SIGTSTP 18
#define SIGCONT 19
#define SIGWINCH 28
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define SA_RESETHAND 0x0004
int sigaction(int number, const struct sigaction *action, struct sigaction *former);
int sigemptyset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *former);
sig_t signal(int number, sig_t handler);
int raise(int number);
int kill(pid_t process, int number);

// pthread(3)
typedef struct _opaque_pthread_t *pthread_t;
pthread_t pthread_self(void);
void *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);
typedef unsigned long pthread_key_t;
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
void *pthread_getspecific(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);

// poll(2), tty(4)
struct pollfd { int fd; short events, revents; };
typedef unsigned int nfds_t;
#define POLLIN 0x0001
#define POLLOUT 0x0004
int poll(struct pollfd *descriptors, nfds_t count, int milliseconds);
// tcsetattr(3), termios(4)
typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    cc_t c_cc[20];
    speed_t c_ispeed, c_ospeed;
};
#define ICRNL 0x00000100
#define IXON 0x00000200
#define ECHO 0x00000008
#define ISIG 0x00000080
#define ICANON 0x00000100
#define IEXTEN 0x00000400
#define TCSADRAIN 1
int tcgetattr(int descriptor, struct termios *mode);
int tcsetattr(int descriptor, int action, const struct termios *mode);

struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };

// recv(2), send(2)
#define MSG_DONTWAIT 0x80
ssize_t recv(int descriptor, void *bytes, size_t count, int flags);
ssize_t send(int descriptor, const void *bytes, size_t count, int flags);

// socket(2), getaddrinfo(3), unix(4), tcp(4)
typedef unsigned char sa_family_t;
typedef unsigned int socklen_t;
struct sockaddr { unsigned char sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_un { unsigned char sun_len; sa_family_t sun_family; char sun_path[104]; };
struct addrinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol;
    socklen_t ai_addrlen;
    char *ai_canonname;
    struct sockaddr *ai_addr;
    struct addrinfo *ai_next;
};
#define AF_UNSPEC 0
#define AF_UNIX 1
#define SOCK_STREAM 1
#define SOL_SOCKET 0xffff
#define SO_ERROR 0x1007
#define SO_LINGER 0x80
struct linger { int l_onoff, l_linger; };
#define SO_NOSIGPIPE 0x1022
#define IPPROTO_TCP 6
#define TCP_NODELAY 1
int socket(int domain, int type, int protocol);
int connect(int descriptor, const struct sockaddr *address, socklen_t size);
int getsockopt(int descriptor, int level, int name, void *value, socklen_t *size);
int setsockopt(int descriptor, int level, int name, const void *value, socklen_t size);
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list);
void freeaddrinfo(struct addrinfo *list);
const char *gai_strerror(int number);

// string(3), stdlib(3)
size_t strlen(const char *text);
int memcmp(const void *one, const void *other, size_t count);
int memset_s(void *bytes, size_t size, int value, size_t count);
void arc4random_buf(void *bytes, size_t count);
void *memcpy(void *target, const void *source, size_t count);
void *memset(void *memory, int byte, size_t count);
void *memchr(const void *bytes, int byte, size_t count);
void free(void *memory);
void *malloc(size_t size);
void *realloc(void *memory, size_t size);
double log2(double number);
double pow(double base, double exponent);
char *getcwd(char *path, size_t size);
char *realpath(const char *path, char *resolved);
_Noreturn void exit(int status);

#endif
