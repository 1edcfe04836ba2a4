/* The floor under a capture hook: the system calls that it cannot do without, and nothing else.
 *
 *   floor DIR [--sync]     reads stdin, writes DIR/tmp/<pid>, renames it to DIR/new/<pid>;
 *                          with --sync also fsyncs the file and DIR/new
 *
 * Compiled with -DNOTHING it returns at once: the price of starting a process.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENTRY_BYTES 600 /* what a spool entry measures */

static char input[1 << 20];

int main(int argc, char **argv) {
#ifdef NOTHING
    (void)argc, (void)argv;
    return 0;
#else
    if (argc < 2) return 2;
    int sync = argc > 2 && strcmp(argv[2], "--sync") == 0;
    size_t have = 0;
    for (;;) {
        /* Like the hook, it reads all of it; what does not fit is read over. */
        size_t room = sizeof input - have;
        ssize_t n = read(0, input + (room ? have : 0), room ? room : sizeof input);
        if (n <= 0) break;
        if (room) have += (size_t)n;
    }
    char tmp[4200], to[4200], dir[4100];
    snprintf(tmp, sizeof tmp, "%.4000s/tmp/%ld", argv[1], (long)getpid());
    snprintf(dir, sizeof dir, "%.4000s/new", argv[1]);
    snprintf(to, sizeof to, "%s/%ld", dir, (long)getpid());
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return 1;
    size_t size = have < ENTRY_BYTES ? have : ENTRY_BYTES;
    if (write(fd, input, size) != (ssize_t)size) return 1;
    if (sync && fsync(fd) != 0) return 1;
    close(fd);
    if (rename(tmp, to) != 0) return 1;
    if (sync) {
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fsync(fd) != 0) return 1;
        close(fd);
    }
    return 0;
#endif
}
