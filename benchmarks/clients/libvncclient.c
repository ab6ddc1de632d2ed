/* Decodes the updates of a replay with libvncclient, in one thread, for any number of remotes.
 *
 * usage: libvncclient PORT UPDATES REMOTES SECONDS
 * It measures from the first update of the last remote until each has received UPDATES, or until SECONDS have passed,
 * if that is not 0. It prints the same JSON as `python -m benchmarks.clients`.
 */
#include <poll.h>
#include <rfb/rfbclient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int tag;

static void on_finished(rfbClient *client) { ++*(long *)rfbClientGetClientData(client, &tag); }

static void quiet(const char *format, ...) { (void)format; }

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static long rss(void) {
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static rfbClient *open_client(int port, long *updates) {
    rfbClient *client = rfbGetClient(8, 3, 4);
    client->format.redShift = 0;
    client->format.greenShift = 8;
    client->format.blueShift = 16;
    client->serverHost = strdup("127.0.0.1");
    client->serverPort = port;
    client->appData.encodingsString = "tight zrle hextile zlib rre copyrect raw";
    client->appData.useRemoteCursor = FALSE;
    client->FinishedFrameBufferUpdate = on_finished;
    rfbClientSetClientData(client, &tag, updates);
    return rfbInitClient(client, NULL, NULL) ? client : NULL;
}

/* Handle all that has come for one remote; messages that were read ahead do not show in poll(). */
static void handle(rfbClient *client) {
    do {
        if (!HandleRFBServerMessage(client)) exit(1);
    } while (client->buffered > 0);
}

static long least(const long *updates, int remotes) {
    long found = updates[0];
    for (int i = 1; i < remotes; i++)
        if (updates[i] < found) found = updates[i];
    return found;
}

static long total(const long *updates, int remotes) {
    long sum = 0;
    for (int i = 0; i < remotes; i++) sum += updates[i];
    return sum;
}

static void serve(rfbClient **clients, struct pollfd *sockets, int remotes, int timeout) {
    if (poll(sockets, remotes, timeout) < 0) exit(1);
    for (int i = 0; i < remotes; i++)
        if (sockets[i].revents) handle(clients[i]);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    long count = atol(argv[2]);
    int remotes = atoi(argv[3]);
    double seconds = atof(argv[4]);
    rfbClientLog = rfbClientErr = quiet;
    rfbClient **clients = calloc(remotes, sizeof *clients);
    struct pollfd *sockets = calloc(remotes, sizeof *sockets);
    long *updates = calloc(remotes, sizeof *updates);
    long before = rss();
    for (int i = 0; i < remotes; i++) {
        clients[i] = open_client(atoi(argv[1]), updates + i);
        if (!clients[i]) return 1;
        sockets[i] = (struct pollfd){.fd = clients[i]->sock, .events = POLLIN};
    }
    while (least(updates, remotes) < 1) serve(clients, sockets, remotes, 1000);
    double cpu_began = cpu(), began = now();
    long first = total(updates, remotes);
    while (least(updates, remotes) < count && (seconds == 0 || now() < began + seconds))
        serve(clients, sockets, remotes, 100);
    printf("{\"updates\": %ld, \"cpu\": %f, \"seconds\": %f, \"rss\": %ld}\n", total(updates, remotes) - first,
           cpu() - cpu_began, now() - began, (rss() - before) / remotes);
    return 0;
}
