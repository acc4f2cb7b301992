// How fast entries can be read by system calls at all, beside LMDB, which reads mapped memory: a program that knows the
// place of each entry and does nothing but pread and copy. In memory of the system's cache of files, one thread.
//
//     cc -O2 read_floor.c -llmdb -o read_floor && ./read_floor FOLDER [BYTES] [ENTRIES]
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 21, READS = 20000, STEP = 7919 };

static size_t byte_count = 560;
static size_t entry_count = 1000;
static volatile unsigned char seen;

static void require(int condition, const char *what) {
    if (condition) return;
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void use(void *bytes) {
    seen = ((unsigned char *)bytes)[byte_count - 1];
    free(bytes);
}

static int file;
static MDB_env *environment;
static MDB_dbi database;

static void read_by_call(size_t entry) {
    void *bytes = malloc(byte_count);
    require(pread(file, bytes, byte_count, (off_t)(entry * byte_count)) == (ssize_t)byte_count, "pread");
    use(bytes);
}

// As a store does that other processes append to: has the file grown?
static void look_and_read_by_call(size_t entry) {
    require(lseek(file, 0, SEEK_END) > 0, "lseek");
    read_by_call(entry);
}

static void read_mapped(size_t entry) {
    char name[32];
    MDB_txn *transaction;
    MDB_val key = {(size_t)snprintf(name, sizeof name, "article-%zu", 1000000 + entry), name}, value;
    require(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction) == 0, "mdb_txn_begin");
    require(mdb_get(transaction, database, &key, &value) == 0, "mdb_get");
    void *bytes = malloc(byte_count);
    memcpy(bytes, value.mv_data, byte_count);
    mdb_txn_abort(transaction);
    use(bytes);
}

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments) {
    require(count > 1, "usage: read_floor FOLDER [BYTES] [ENTRIES]");
    if (count > 2) byte_count = (size_t)atol(arguments[2]);
    if (count > 3) entry_count = (size_t)atol(arguments[3]);
    char path[4096];
    snprintf(path, sizeof path, "%s/entries", arguments[1]);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    require(file >= 0, path);
    char *bytes = malloc(byte_count);
    require(mdb_env_create(&environment) == 0 && mdb_env_set_mapsize(environment, (size_t)1 << 30) == 0, "LMDB");
    require(mdb_env_open(environment, arguments[1], MDB_NOSYNC, 0600) == 0, "mdb_env_open");
    MDB_txn *transaction;
    require(mdb_txn_begin(environment, NULL, 0, &transaction) == 0, "mdb_txn_begin");
    require(mdb_dbi_open(transaction, NULL, 0, &database) == 0, "mdb_dbi_open");
    for (size_t entry = 0; entry < entry_count; entry++) {
        memset(bytes, (int)entry, byte_count);
        require(write(file, bytes, byte_count) == (ssize_t)byte_count, "write");
        char name[32];
        MDB_val key = {(size_t)snprintf(name, sizeof name, "article-%zu", 1000000 + entry), name};
        MDB_val value = {byte_count, bytes};
        require(mdb_put(transaction, database, &key, &value, 0) == 0, "mdb_put");
    }
    require(mdb_txn_commit(transaction) == 0, "mdb_txn_commit");

    struct {
        const char *name;
        void (*read)(size_t);
        double times[ROUNDS];
    } kinds[] = {
        {"pread, copied", read_by_call, {0}},
        {"lseek, pread, copied", look_and_read_by_call, {0}},
        {"LMDB, copied", read_mapped, {0}},
    };
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t kind = 0; kind < 3; kind++) {
            double start = now();
            for (size_t read = 0; read < READS; read++) kinds[kind].read(read * STEP % entry_count);
            kinds[kind].times[round] = (now() - start) / READS;
        }
    }
    double lmdb = 0;
    for (size_t kind = 3; kind-- > 0;) {
        qsort(kinds[kind].times, ROUNDS, sizeof(double), compare);
        double median = kinds[kind].times[ROUNDS / 2], least = kinds[kind].times[0];
        if (kind == 2) lmdb = median;
        printf("%-22s %7.0f ns, least %5.0f, LMDB takes %.2f of it\n", kinds[kind].name, median, least, lmdb / median);
    }
    return 0;
}
