/* SPDX-License-Identifier: Apache-2.0 */

#include "run.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "net.h"

#define NS 1000000000ULL

struct job {
    const struct run *run;
    worker_func *function;
    unsigned int worker;
    pthread_t thread;
    pid_t pid;
};

static struct job *jobs;
static sigset_t signals;        /* That end the program. */

uint64_t
clock_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * NS + ts.tv_nsec;
}

void
clock_sleep_until(uint64_t when)
{
    struct timespec ts = { .tv_sec = when / NS, .tv_nsec = when % NS };

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* To be called before anything that can take long: from here on, SIGINT and
 * SIGTERM wait until run_sleep() sees them. */
void
run_init(struct run *run)
{
    unsigned int n = run->options.n_workers;

    run->control = shared_alloc(sizeof *run->control);
    run->workers = shared_alloc(n * sizeof *run->workers);
    jobs = calloc(n, sizeof *jobs);
    if (!run->control || !run->workers || !jobs) {
        net_fail(ENOMEM, "no memory for %u workers", n);
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void
pin(const struct options *o, struct worker *state, unsigned int worker)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(o->cpus[worker % o->n_cpus], &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus)) {
        worker_fail(state, errno, "--cpus: the worker cannot be pinned");
    }
}

static void *
work(void *job_)
{
    struct job *job = job_;
    const struct options *o = &job->run->options;
    struct worker *state = &job->run->workers[job->worker];

    if (o->n_cpus) {
        pin(o, state, job->worker);
    }
    if (!atomic_load(&state->error)) {
        job->function(job->run, job->worker);
    }
    atomic_store(&state->done, true);
    return NULL;
}

static void
start_process(struct job *job)
{
    pid_t parent = getpid();

    fflush(NULL);
    job->pid = fork();
    if (job->pid < 0) {
        net_fail(errno, "worker %u cannot be started", job->worker);
    } else if (!job->pid) {
        /* It must not outlive us, whatever we die of. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            work(job);
        }
        _exit(0);
    }
}

void
run_start_workers(struct run *run, worker_func *function)
{
    const struct options *o = &run->options;

    for (unsigned int i = 0; i < o->n_workers; i++) {
        jobs[i] = (struct job) { .run = run, .function = function,
                                 .worker = i };
        if (o->processes) {
            start_process(&jobs[i]);
        } else {
            int error = pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);

            if (error) {
                net_fail(error, "worker %u cannot be started", i);
            }
        }
    }
}

/* Has all workers end and waits for them. */
void
run_stop_workers(struct run *run)
{
    atomic_store(&run->control->stop, true);
    for (unsigned int i = 0; i < run->options.n_workers; i++) {
        if (!run->options.processes) {
            pthread_join(jobs[i].thread, NULL);
        } else if (jobs[i].pid) {
            waitpid(jobs[i].pid, NULL, 0);
        }
    }
}

/* Ends the program if a worker could not go on. */
static void
check_workers(struct run *run)
{
    for (unsigned int i = 0; i < run->options.n_workers; i++) {
        struct worker *worker = &run->workers[i];
        int status;

        if (jobs[i].pid && waitpid(jobs[i].pid, &status, WNOHANG) > 0) {
            jobs[i].pid = 0;
            if (!atomic_load(&worker->done)) {
                net_fail(0, "the process of worker %u has died of signal %d",
                         i, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
            }
        }
        if (atomic_load(&worker->error)) {
            net_fail(atomic_load(&worker->error), "worker %u: %s", i,
                     atomic_load(&worker->failed));
        }
    }
}

/* Sleeps until 'until' or, if that is earlier, for one tick.  Returns false if
 * the user wants the program to end. */
bool
run_sleep(struct run *run, uint64_t until)
{
    uint64_t now = clock_now();
    uint64_t wait = until <= now ? 0 : until - now;
    struct timespec timeout;

    if (wait > RUN_TICK_NS) {
        wait = RUN_TICK_NS;
    }
    timeout = (struct timespec) { .tv_nsec = wait };
    if (sigtimedwait(&signals, NULL, &timeout) > 0) {
        return false;
    }
    check_workers(run);
    return true;
}

/* Returns when the report after that of time 'last' is due.  Those that were
 * missed, while the program was stopped, are left out. */
uint64_t
run_next(uint64_t last, uint64_t interval)
{
    uint64_t now = clock_now();

    return last + ((now > last ? now - last : 0) / interval + 1) * interval;
}

/* Returns the time from the first datagram of all workers to the last. */
uint64_t
run_active_time(const struct run *run)
{
    uint64_t begun = UINT64_MAX;
    uint64_t ended = 0;

    for (unsigned int i = 0; i < run->options.n_workers; i++) {
        const struct worker *worker = &run->workers[i];
        uint64_t first = counter_get(&worker->begun);
        uint64_t last = counter_get(&worker->ended);

        if (first) {
            begun = first < begun ? first : begun;
            ended = last > ended ? last : ended;
        }
    }
    return ended > begun ? ended - begun : 0;
}

/* The worker calls this ahead of returning.  'what' is a literal, which has
 * the same address in all processes. */
void
worker_fail(struct worker *worker, int error, const char *what)
{
    atomic_store(&worker->failed, what);
    atomic_store(&worker->error, error);
}

bool
run_stopped(const struct run *run)
{
    return atomic_load_explicit(&run->control->stop, memory_order_relaxed);
}
