/* Starts commands many times and tells how long each took, from before the spawn to after the wait.
 *
 *   launch -n TIMES [-w WARMUP] [-e EVICT] NAME LIST COMMAND [ARG...] [::: NAME LIST COMMAND [ARG...]]...
 *
 * LIST is a file that names the files given as stdin, a line each, in turn. The commands take turns as well, each turn in another order, so that
 * what disturbs the machine disturbs all alike. EVICT is a file that names files which the kernel is asked to forget before each start.
 * Opening stdin, the pipe for stdout and the forgetting are not counted. Prints a JSON object a command; times in ns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct command {
    const char *name;
    char **argv;
    char **inputs;
    int input_count;
    uint64_t *took;
    uint64_t *printed;
    long *faults;
    long rss_kb;
    int failed, silent;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static char **read_list(const char *path, int *count) {
    FILE *f = fopen(path, "r");
    if (!f) die(path);
    char line[4096], **names = NULL;
    *count = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (!*line) continue;
        names = realloc(names, sizeof(char *) * (size_t)(*count + 1));
        names[(*count)++] = strdup(line);
    }
    fclose(f);
    if (!*count) {
        fprintf(stderr, "%s names no file\n", path);
        exit(2);
    }
    return names;
}

static char **evicted;
static int evicted_count;

static void evict(void) {
    for (int i = 0; i < evicted_count; i++) {
        int fd = open(evicted[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue; /* merged away since it was named */
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
}

/* Runs it once; `slot` < 0 is a warm-up and leaves no trace. */
static void run(struct command *c, int turn, int slot) {
    evict();
    int in = open(c->inputs[turn % c->input_count], O_RDONLY | O_CLOEXEC);
    if (in < 0) die(c->inputs[turn % c->input_count]);
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) die("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    int status;
    struct rusage usage;
    uint64_t from = now();
    if (posix_spawn(&pid, c->argv[0], &actions, NULL, c->argv, environ) != 0) die(c->argv[0]);
    if (wait4(pid, &status, 0, &usage) < 0) die("wait");
    uint64_t took = now() - from;
    posix_spawn_file_actions_destroy(&actions);
    close(in);
    close(out[1]);
    /* A reply is shorter than a pipe's buffer, so it waits there whole. */
    uint64_t printed = 0;
    char buffer[65536];
    ssize_t n;
    while ((n = read(out[0], buffer, sizeof buffer)) > 0) printed += (uint64_t)n;
    close(out[0]);
    if (slot < 0) return;
    c->took[slot] = took;
    c->printed[slot] = printed;
    c->faults[slot] = usage.ru_minflt;
    if (usage.ru_maxrss > c->rss_kb) c->rss_kb = usage.ru_maxrss;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) c->failed++;
    if (!printed) c->silent++;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static unsigned long long quantile(const uint64_t *sorted, int n, double q) {
    int at = (int)(q * (n - 1) + 0.5);
    return (unsigned long long)sorted[at];
}

int main(int argc, char **argv) {
    int times = 0, warmup = 20, at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (!strcmp(argv[at], "-n")) times = atoi(argv[at + 1]);
        else if (!strcmp(argv[at], "-w")) warmup = atoi(argv[at + 1]);
        else if (!strcmp(argv[at], "-e")) evicted = read_list(argv[at + 1], &evicted_count);
        else break;
    }
    struct command commands[16];
    int count = 0;
    while (at + 2 < argc && count < 16) {
        struct command *c = &commands[count++];
        memset(c, 0, sizeof *c);
        c->name = argv[at];
        c->inputs = read_list(argv[at + 1], &c->input_count);
        c->argv = argv + at + 2;
        for (at += 2; at < argc && strcmp(argv[at], ":::"); at++) {}
        if (at < argc) argv[at++] = NULL;
        c->took = calloc((size_t)times, sizeof(uint64_t));
        c->printed = calloc((size_t)times, sizeof(uint64_t));
        c->faults = calloc((size_t)times, sizeof(long));
    }
    if (times < 1 || !count) {
        fprintf(stderr, "usage: launch -n TIMES [-w WARMUP] [-e EVICT] NAME LIST COMMAND [ARG...] [::: ...]\n");
        return 2;
    }
    for (int turn = 0; turn < warmup; turn++)
        for (int c = 0; c < count; c++) run(&commands[c], turn, -1);
    /* In a fixed order a command would always follow the same one, and on few processors always on the same processor. */
    int order[16];
    for (int c = 0; c < count; c++) order[c] = c;
    srand(1);
    for (int turn = 0; turn < times; turn++) {
        for (int c = count - 1; c > 0; c--) {
            int other = rand() % (c + 1), kept = order[c];
            order[c] = order[other];
            order[other] = kept;
        }
        for (int c = 0; c < count; c++) run(&commands[order[c]], turn, turn);
    }
    for (int i = 0; i < count; i++) {
        struct command *c = &commands[i];
        uint64_t faults = 0;
        for (int k = 0; k < times; k++) faults += (uint64_t)c->faults[k];
        qsort(c->took, (size_t)times, sizeof(uint64_t), by_size);
        qsort(c->printed, (size_t)times, sizeof(uint64_t), by_size);
        printf("{\"name\":\"%s\",\"n\":%d,\"min\":%llu,\"p50\":%llu,\"p95\":%llu,\"p99\":%llu,\"failed\":%d,\"silent\":%d,"
               "\"printed_p50\":%llu,\"max_rss_kb\":%ld,\"minor_faults\":%llu}\n",
               c->name, times, quantile(c->took, times, 0), quantile(c->took, times, 0.5),
               quantile(c->took, times, 0.95), quantile(c->took, times, 0.99), c->failed, c->silent,
               quantile(c->printed, times, 0.5), c->rss_kb, (unsigned long long)(faults / (uint64_t)times));
    }
    return 0;
}
