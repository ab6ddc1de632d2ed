/* Sends recorded updates to hundreds of clients, each at its own pace, with little CPU time.
 *
 * usage: pacer STREAM RATE CLIENTS [repeat]
 * STREAM, made by benchmarks/drivers/many.py, contains the width, the height, and for each update its length (u32,
 * little endian) and its bytes. The program listens on the loopback interface, prints its port, and ends when stdin is
 * closed. Each client receives its first update at once. When CLIENTS clients have theirs, each receives RATE more per
 * second: in answer to requests, or without them if it enabled continuous updates. After the last update the screen
 * does not change; with `repeat` the second follows, and the first, of the whole screen, when a client requests it. The
 * form of the stream must then be one without state, such as Raw. It is a benchmark program without protection against
 * hostile clients.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CLIENTS = 2048, MOST_INPUT = 4096 };

struct client {
    int socket, stage, asked, continuous, again;
    uint32_t sent;       /* of the update under way */
    const uint8_t *next; /* its length, and its bytes */
    double due;
    size_t held, fence_size;
    uint8_t input[MOST_INPUT], fence[9 + 64]; /* the answer to the client's fence, for the end of the update under way */
};

static struct client *clients[MOST_CLIENTS];
static int count, expected, started, repeats;
static uint8_t *stream;
static const uint8_t *stream_end;
static double interval;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static uint32_t word(const uint8_t *at) { return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24; }

/* Whether a FramebufferUpdateRequest wants the whole screen, whatever has been sent. */
static int wants_all(const uint8_t *in) {
    return !in[1] && (in[6] << 8 | in[7]) == (int)word(stream) && (in[8] << 8 | in[9]) == (int)word(stream + 4);
}

static void say(struct client *client, const void *data, size_t size) {
    if (write(client->socket, data, size) != (ssize_t)size) client->stage = -1;
}

static void say_init(struct client *client) {
    static const uint8_t format[16] = {32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16};
    uint8_t init[24] = {stream[1], stream[0], stream[5], stream[4]};
    memcpy(init + 4, format, sizeof format);
    say(client, init, sizeof init);
}

/* Whether a whole SetEncodings has this one. */
static int asks_for(const uint8_t *in, int32_t encoding) {
    for (int i = 0; i < (in[2] << 8 | in[3]); i++) {
        const uint8_t *at = in + 4 + 4 * i;
        if ((int32_t)((uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]) == encoding) return 1;
    }
    return 0;
}

/* EndOfContinuousUpdates says that there are some, and a fence that they can be had. */
static void offer_continuous_updates(struct client *client) {
    static const uint8_t offer[] = {150, 248, 0, 0, 0, 0x80, 0, 0, 0, 0};
    say(client, offer, sizeof offer);
}

/* How long the message at the head of the input is; 0 if that is not known yet. */
static size_t message_size(const uint8_t *in, size_t held) {
    switch (in[0]) {
    case 0: return 20;
    case 2: return held < 4 ? 0 : 4 + 4 * (size_t)(in[2] << 8 | in[3]);
    case 3: return 10;
    case 4: return 8;
    case 5: return 6;
    case 150: return 10;
    case 248: return held < 9 ? 0 : 9 + (size_t)in[8];
    default: return SIZE_MAX;
    }
}

/* Take one step in the handshake, or one message; return the bytes it took, 0 if more have to come. */
static size_t step(struct client *client, const uint8_t *in, size_t held) {
    static const size_t handshake[] = {12, 1, 1};
    if (client->stage < 3) {
        size_t size = handshake[client->stage];
        if (held < size) return 0;
        if (client->stage == 0) say(client, "\1\1", 2);
        if (client->stage == 1) say(client, "\0\0\0\0", 4);
        if (client->stage == 2) say_init(client);
        if (client->stage >= 0) client->stage++;
        return size;
    }
    size_t size = message_size(in, held);
    if (size == SIZE_MAX) client->stage = -1;
    if (size == 0 || held < size) return 0;
    if (in[0] == 2 && asks_for(in, -312) && asks_for(in, -313)) offer_continuous_updates(client);
    if (in[0] == 3) client->asked = 1;
    if (in[0] == 3 && repeats && wants_all(in)) client->again = 1;
    if (in[0] == 150) client->continuous = in[1];
    if (in[0] == 248 && in[4] & 0x80 && size <= sizeof client->fence) {
        memcpy(client->fence, in, size);
        client->fence[4] &= 0x7f;
        client->fence_size = size;
    }
    return size;
}

static void receive(struct client *client) {
    ssize_t got = read(client->socket, client->input + client->held, MOST_INPUT - client->held);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN) client->stage = -1;
        return;
    }
    client->held += got;
    size_t at = 0, size;
    while (at < client->held && client->stage >= 0 && (size = step(client, client->input + at, client->held - at)))
        at += size;
    memmove(client->input, client->input + at, client->held - at);
    client->held -= at;
}

static void send_some(struct client *client, double time) {
    if (client->sent == 0 && client->again) {
        client->due = time;
        client->next = stream + 8;
        client->again = 0;
    } else if (repeats && client->next >= stream_end) {
        client->next = stream + 12 + word(stream + 8); /* the second update: the first is the whole screen */
    }
    if (client->stage != 3) return;
    if (client->sent == 0 && client->fence_size > 0) {
        say(client, client->fence, client->fence_size);
        client->fence_size = 0;
    }
    if (client->stage != 3 || client->next >= stream_end) return;
    if (!started && client->next != stream + 8) return;
    if (client->sent == 0 && (!(client->asked || client->continuous) || time < client->due)) return;
    uint32_t length = word(client->next);
    ssize_t put = write(client->socket, client->next + 4 + client->sent, length - client->sent);
    if (put < 0) {
        if (errno != EAGAIN) client->stage = -1;
        return;
    }
    if (client->sent == 0) {
        client->asked = 0;
        client->due = client->due + interval > time - interval ? client->due + interval : time;
    }
    client->sent += put;
    if (client->sent == length) {
        client->next += 4 + length;
        client->sent = 0;
    }
}

static void welcome(int listener, int poll) {
    int one = 1, socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (socket < 0 || count == MOST_CLIENTS) exit(1);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct client *client = calloc(1, sizeof *client);
    client->socket = socket;
    client->next = stream + 8;
    client->due = now();
    clients[count++] = client;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
    say(client, "RFB 003.008\n", 12);
}

static void bury(void) {
    for (int i = 0; i < count; i++) {
        if (clients[i]->stage >= 0) continue;
        close(clients[i]->socket);
        free(clients[i]);
        clients[i--] = clients[--count];
    }
}

/* Begin when all have come; their updates are spread over the interval. */
static void start(double time) {
    int waiting = 0;
    for (int i = 0; i < count; i++) waiting += (clients[i]->asked || clients[i]->continuous) && clients[i]->next != stream + 8;
    if (waiting < expected) return;
    started = 1;
    for (int i = 0; i < count; i++) clients[i]->due = time + interval * i / count;
}

static void load(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) || status.st_size < 8) exit(2);
    stream = malloc(status.st_size);
    ssize_t got = 0, piece = 0;
    while (got < status.st_size && (piece = read(file, stream + got, status.st_size - got)) > 0) got += piece;
    if (got != status.st_size) exit(2);
    stream_end = stream + got;
}

static int listen_somewhere(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) exit(1);
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    repeats = argc > 4;
    load(argv[1]);
    interval = 1 / atof(argv[2]);
    expected = atoi(argv[3]);
    int listener = listen_somewhere(), poll = epoll_create1(0);
    static int listening, ending;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listening}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    event.data.ptr = &ending;
    epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, 256, 1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr == &ending) return 0;
            if (events[i].data.ptr == &listening) welcome(listener, poll);
            else receive(events[i].data.ptr);
        }
        double time = now();
        if (count == 0) started = 0;
        if (!started && count > 0) start(time);
        for (int i = 0; i < count; i++) send_some(clients[i], time);
        bury();
    }
}
