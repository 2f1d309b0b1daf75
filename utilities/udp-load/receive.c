/* SPDX-License-Identifier: Apache-2.0 */

/* The workers of a sink. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net.h"
#include "sink.h"

#define EPOLL_TIMEOUT_MS 100

/* Room for one datagram: its first bytes, what SO_RXQ_OVFL says. */
struct slot {
    uint8_t payload[WIRE_SIZE];
    struct iovec iov;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint32_t))];
};

struct receiver {
    const struct run *run;
    struct worker *state;
    struct streams *streams;
    int fd;
    unsigned int batch;
    struct slot *slots;         /* One for each of 'messages'. */
    struct mmsghdr *messages;
};

static void
prepare(struct receiver *r, unsigned int i)
{
    struct slot *slot = &r->slots[i];

    slot->iov = (struct iovec) { slot->payload, sizeof slot->payload };
    r->messages[i].msg_hdr = (struct msghdr) {
        .msg_iov = &slot->iov,
        .msg_iovlen = 1,
        .msg_control = slot->control,
        .msg_controllen = sizeof slot->control,
    };
}

static void
note_drops(struct worker *state, struct msghdr *msg)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
            uint32_t drops;

            memcpy(&drops, CMSG_DATA(c), sizeof drops);
            counter_set(&state->kernel_drops, drops);
        }
    }
}

/* Message 'i' has come, with 'length' bytes, at time 'now'. */
static void
account(struct receiver *r, unsigned int i, size_t length, uint64_t now)
{
    struct worker *state = r->state;
    int64_t latency;
    struct wire wire;

    note_drops(state, &r->messages[i].msg_hdr);
    if (!wire_get(&wire, r->slots[i].payload, length)) {
        counter_add(&state->foreign, 1);
        return;
    }
    if (!streams_receive(r->streams, &wire)) {
        counter_add(&state->untracked, 1);
    }
    if (wire.type == WIRE_END) {
        counter_add(&state->end_markers, 1);
        return;
    }
    counter_add(&state->packets, 1);
    counter_add(&state->bytes, length);
    if (!counter_get(&state->begun)) {
        counter_set(&state->begun, now);
    }
    counter_set(&state->ended, now);
    latency = wire_elapsed(wire.extra, now);
    if (latency >= 0) {
        histogram_add(&state->latency, latency);
    } else {
        counter_add(&state->clock_errors, 1);
    }
}

/* After a failed receive.  Returns false if the worker cannot go on. */
static bool
go_on(struct receiver *r, const char *what)
{
    if (errno != EAGAIN && errno != EINTR) {
        worker_fail(r->state, errno, what);
        return false;
    }
    return true;
}

/* MSG_TRUNC makes recvmsg() return the whole length of a datagram of which we
 * take only the beginning. */
static ssize_t
receive_one(struct receiver *r, int flags)
{
    ssize_t length;

    prepare(r, 0);
    length = recvmsg(r->fd, &r->messages[0].msg_hdr, flags | MSG_TRUNC);
    if (length >= 0) {
        account(r, 0, length, clock_now());
    }
    return length;
}

static void
run_recv(struct receiver *r)
{
    while (!run_stopped(r->run)) {
        if (receive_one(r, 0) < 0 && !go_on(r, "recvmsg")) {
            return;
        }
    }
}

static void
run_epoll(struct receiver *r)
{
    struct epoll_event event = {
        /* With a shared socket, a datagram need not wake all workers. */
        .events = EPOLLIN | (r->run->options.shared ? EPOLLEXCLUSIVE : 0),
    };
    int epfd = epoll_create1(EPOLL_CLOEXEC);

    if (epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, r->fd, &event)) {
        worker_fail(r->state, errno, "epoll cannot be set up");
        return;
    }
    while (!run_stopped(r->run)) {
        int n = epoll_wait(epfd, &event, 1, EPOLL_TIMEOUT_MS);

        if (n < 0 && !go_on(r, "epoll_wait")) {
            break;
        }
        for (unsigned int i = 0; n > 0 && i < r->batch; i++) {
            if (receive_one(r, MSG_DONTWAIT) < 0) {
                n = go_on(r, "recvmsg") ? 0 : -1;
            }
        }
        if (n < 0 && atomic_load(&r->state->error)) {
            break;
        }
    }
    close(epfd);
}

static void
run_recvmmsg(struct receiver *r)
{
    for (unsigned int i = 0; i < r->batch; i++) {
        prepare(r, i);
    }
    while (!run_stopped(r->run)) {
        int n = recvmmsg(r->fd, r->messages, r->batch,
                         MSG_WAITFORONE | MSG_TRUNC, NULL);
        uint64_t now = clock_now();

        if (n < 0) {
            if (!go_on(r, "recvmmsg")) {
                return;
            }
            continue;
        }
        for (int i = 0; i < n; i++) {
            account(r, i, r->messages[i].msg_len, now);
            prepare(r, i);
        }
    }
}

void
receive_worker(const struct run *run, unsigned int worker)
{
    const struct options *o = &run->options;
    struct receiver r = {
        .run = run,
        .state = &run->workers[worker],
        .streams = run->streams[worker % o->n_ports],
        .fd = run->fds[o->shared ? 0 : worker],
        .batch = o->batch,
        .slots = calloc(o->batch, sizeof *r.slots),
        .messages = calloc(o->batch, sizeof *r.messages),
    };

    if (!r.slots || !r.messages) {
        worker_fail(r.state, ENOMEM, "no memory for --batch");
    } else if (o->receive == RECEIVE_RECV) {
        run_recv(&r);
    } else if (o->receive == RECEIVE_EPOLL) {
        run_epoll(&r);
    } else {
        run_recvmmsg(&r);
    }
    free(r.slots);
    free(r.messages);
}
