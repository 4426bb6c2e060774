// Measures the threads of a training step from outside: a library that is loaded before OpenMP's (LD_PRELOAD) and
// replaces the one call that opens a parallel region. bench/threads.py builds it, runs `inkling bench` under it, and
// reads its output. THREADS_MODE:
//   turns   the parts of a region run one after the other on the calling thread; each part sees itself as thread t of
//           n, so any machine can measure the work of 64 threads, part by part and undisturbed
//   real    OpenMP's threads run and are timed; THREADS_DELAY: microseconds that the last thread loses in each region
// THREADS_OUT gets, for each region, struct Region and the seconds of each part as a float. THREADS_OUT.sites gets a
// line for each place that opens regions: addresses in the program, the innermost first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kDepth = 12, kMaxSites = 512, kMaxParts = 1024 };

struct Region {
    uint32_t site, parts;
    float before, wall;  // seconds since the last region, on one thread; seconds of this region
};

typedef void (*Body)(void*);
static void (*open_region)(Body, void*, unsigned, unsigned);
static int (*thread_num)(void), (*num_threads)(void), (*in_parallel)(void);

static bool in_turns, inside;
static unsigned turn, turns;
static double delay, last_end, part_seconds[kMaxParts];
static FILE* out;
static void* sites[kMaxSites][kDepth];
static unsigned site_count;
static uintptr_t base;  // the program's address

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int first_object(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size, (void)data;
    base = info->dlpi_addr;
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    const char *const mode = getenv("THREADS_MODE"), *const path = getenv("THREADS_OUT");
    const char* const us = getenv("THREADS_DELAY");
    if (!mode || !path) return;
    *(void**)&open_region = dlsym(RTLD_NEXT, "GOMP_parallel");
    *(void**)&thread_num = dlsym(RTLD_NEXT, "omp_get_thread_num");
    *(void**)&num_threads = dlsym(RTLD_NEXT, "omp_get_num_threads");
    *(void**)&in_parallel = dlsym(RTLD_NEXT, "omp_in_parallel");
    in_turns = strcmp(mode, "turns") == 0;
    delay = us ? 1e-6 * atof(us) : 0;
    dl_iterate_phdr(first_object, NULL);
    out = fopen(path, "wb");
    last_end = now();
}

__attribute__((destructor)) static void end(void) {
    if (!out) return;
    fclose(out);
    char path[4096];
    snprintf(path, sizeof path, "%s.sites", getenv("THREADS_OUT"));
    FILE* const f = fopen(path, "w");
    for (unsigned s = 0; f && s < site_count; ++s) {
        for (int i = 0; i < kDepth && sites[s][i]; ++i) fprintf(f, "%#lx ", (uintptr_t)sites[s][i] - base - 1);
        fputc('\n', f);
    }
    if (f) fclose(f);
}

static unsigned site_of(void* const* frames) {
    for (unsigned s = 0; s < site_count; ++s)
        if (memcmp(sites[s], frames, sizeof sites[s]) == 0) return s;
    if (site_count == kMaxSites) return kMaxSites - 1;
    memcpy(sites[site_count], frames, sizeof sites[0]);
    return site_count++;
}

struct Timed {
    Body body;
    void* data;
};
static void timed(void* data) {
    const struct Timed* const t = data;
    const int me = thread_num();
    const double start = now();
    t->body(t->data);
    if (delay > 0 && me + 1 == num_threads())
        for (const double until = now() + delay; now() < until;) {
        }
    part_seconds[me] = now() - start;
}

void GOMP_parallel(Body body, void* data, unsigned n, unsigned flags) {
    const double entered = now();
    if (n > kMaxParts) abort();
    void* frames[kDepth + 1] = {0};
    backtrace(frames, kDepth + 1);  // the first frame is this function
    struct Region region = {.before = (float)(entered - last_end), .site = site_of(frames + 1), .parts = n};
    const double start = now();
    if (in_turns) {
        inside = true, turns = n;
        double from = start;
        for (turn = 0; turn < n; ++turn) {
            body(data);
            const double to = now();
            part_seconds[turn] = to - from, from = to;
        }
        inside = false, turn = 0, turns = 1;
    } else {
        struct Timed t = {body, data};
        open_region(timed, &t, n, flags);
    }
    region.wall = (float)(now() - start);
    fwrite(&region, sizeof region, 1, out);
    for (unsigned i = 0; i < n; ++i) {
        const float seconds = (float)part_seconds[i];
        fwrite(&seconds, sizeof seconds, 1, out);
    }
    last_end = now();
}

int omp_get_thread_num(void) { return in_turns ? (int)turn : thread_num(); }
int omp_get_num_threads(void) { return in_turns ? (int)turns : num_threads(); }
int omp_in_parallel(void) { return in_turns ? inside : in_parallel(); }

// The costs that make up a meeting on this machine, in microseconds, for threads.py.

enum { kRounds = 1000 };
static atomic_uint ball;
static void* return_ball(void* none) {
    for (unsigned i = 0; i < kRounds; ++i) {
        while (atomic_load(&ball) != 2 * i + 1) {
        }
        atomic_store(&ball, 2 * i + 2);
    }
    return none;
}
double line_us(void) {  // from a core's write to another core's read of it
    pthread_t other;
    atomic_store(&ball, 0);
    pthread_create(&other, NULL, return_ball, NULL);
    double start = 0;
    for (unsigned i = 0; i < kRounds; ++i) {
        if (i == 1) start = now();  // the other thread has started
        atomic_store(&ball, 2 * i + 1);
        while (atomic_load(&ball) != 2 * i + 2) {
        }
    }
    const double us = 1e6 * (now() - start) / (2 * (kRounds - 1));
    pthread_join(other, NULL);
    return us;
}

double spin_us(unsigned count) {  // until a waiting thread sleeps: GOMP_SPINCOUNT
    const double start = now();
    for (unsigned i = 0; i < count; ++i) __builtin_ia32_pause();
    return 1e6 * (now() - start);
}

static atomic_uint bell;
static void* sleep_until_bell(void* asleep) {
    atomic_fetch_add((atomic_uint*)asleep, 1);
    while (atomic_load(&bell) == 0) syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}
double wake_us(unsigned sleepers) {  // cost for the thread that wakes them
    pthread_t threads[256];
    atomic_uint asleep = 0;
    atomic_store(&bell, 0);
    for (unsigned i = 0; i < sleepers; ++i) pthread_create(&threads[i], NULL, sleep_until_bell, &asleep);
    while (atomic_load(&asleep) < sleepers) usleep(100);
    usleep(5000);
    const double start = now();
    atomic_store(&bell, 1);
    syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
    const double us = 1e6 * (now() - start);
    for (unsigned i = 0; i < sleepers; ++i) pthread_join(threads[i], NULL);
    return us;
}
