/* Connects with libvncclient, asks for one encoding and writes COUNT whole updates, as raw RGB, to stdout.
 *
 * usage: libvncclient_grab HOST PORT ENCODING COUNT   (the password is the first line of stdin)
 */
#include <rfb/rfbclient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int finished;

static char *get_password(rfbClient *client) {
    char line[64] = "";
    (void)client;
    if (!fgets(line, sizeof line, stdin)) return NULL;
    line[strcspn(line, "\n")] = 0;
    return strdup(line);
}

static void on_finished(rfbClient *client) {
    (void)client;
    finished = 1;
}

static void write_rgb(const rfbClient *client) {
    long pixels = (long)client->width * client->height;
    for (long at = 0; at < pixels; at++) fwrite(client->frameBuffer + 4 * at, 1, 3, stdout);
    fflush(stdout);
}

static rfbClient *open_client(char **argv) {
    rfbClient *client = rfbGetClient(8, 3, 4);
    client->format.redShift = 0;
    client->format.greenShift = 8;
    client->format.blueShift = 16;
    client->serverHost = strdup(argv[1]);
    client->serverPort = atoi(argv[2]);
    client->appData.encodingsString = argv[3];
    client->appData.enableJPEG = FALSE;
    client->appData.useRemoteCursor = FALSE;
    client->GetPassword = get_password;
    client->FinishedFrameBufferUpdate = on_finished;
    return rfbInitClient(client, NULL, NULL) ? client : NULL;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    rfbClient *client = open_client(argv);
    if (!client) return 1; /* rfbInitClient has freed it */
    for (int left = atoi(argv[4]); left > 0; left -= finished) {
        finished = 0;
        int ready = WaitForMessage(client, 10 * 1000 * 1000);
        if (ready <= 0 || !HandleRFBServerMessage(client)) return 1;
        if (finished) write_rgb(client);
    }
    rfbClientCleanup(client);
    return 0;
}
