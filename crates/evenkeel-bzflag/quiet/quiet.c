/* The screen, the clock and the hands of a client that plays by itself.
 *
 * Preloaded into the game's client as it is shipped. It takes the place of OpenGL and of the window's GL context, so
 * that nothing is drawn and neither a display nor a driver is needed; of the buffer swap, which waits for the next
 * tick of a 60 Hz screen; and of the player's fingers, which press `I` (spawn) and `9` (autopilot) through SDL's own
 * queue of events. It also writes down where tanks would have been drawn. What the game computes and what it sends stays
 * its own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- What is drawn: nothing. Arguments do not matter to an empty function; a result of 0 means "fine" or "none". */

#define NOTHING(name) int name(void) { return 0; }

NOTHING(glAlphaFunc) NOTHING(glBegin) NOTHING(glBindTexture) NOTHING(glBlendFunc) NOTHING(glCallList) NOTHING(glClear)
NOTHING(glClearColor) NOTHING(glClearDepth) NOTHING(glClearStencil) NOTHING(glClipPlane) NOTHING(glColor3f)
NOTHING(glColor3fv) NOTHING(glColor4f) NOTHING(glColor4fv) NOTHING(glColorMask) NOTHING(glCullFace)
NOTHING(glDeleteLists) NOTHING(glDeleteTextures) NOTHING(glDepthFunc) NOTHING(glDepthMask) NOTHING(glDepthRange)
NOTHING(glDisable) NOTHING(glDisableClientState) NOTHING(glDrawArrays) NOTHING(glDrawBuffer) NOTHING(glDrawElements)
NOTHING(glEnable) NOTHING(glEnableClientState) NOTHING(glEnd) NOTHING(glEndList) NOTHING(glFogf) NOTHING(glFogfv)
NOTHING(glFogi) NOTHING(glFrontFace) NOTHING(glGetError) NOTHING(glHint) NOTHING(glLightModelfv)
NOTHING(glLightModeli) NOTHING(glLightf) NOTHING(glLightfv) NOTHING(glLighti) NOTHING(glLineStipple)
NOTHING(glLineWidth) NOTHING(glLoadIdentity) NOTHING(glLoadMatrixf) NOTHING(glLogicOp) NOTHING(glMaterialf)
NOTHING(glMaterialfv) NOTHING(glMatrixMode) NOTHING(glMultMatrixf) NOTHING(glNewList) NOTHING(glNormal3f)
NOTHING(glNormal3fv) NOTHING(glNormalPointer) NOTHING(glOrtho) NOTHING(glPixelStorei) NOTHING(glPointSize)
NOTHING(glPolygonMode) NOTHING(glPolygonOffset) NOTHING(glPolygonStipple) NOTHING(glPopAttrib)
NOTHING(glPushAttrib) NOTHING(glReadPixels) NOTHING(glRectf) NOTHING(glRecti)
NOTHING(glScalef) NOTHING(glScissor) NOTHING(glShadeModel) NOTHING(glStencilFunc) NOTHING(glStencilOp)
NOTHING(glTexCoord2f) NOTHING(glTexCoord2fv) NOTHING(glTexCoordPointer) NOTHING(glTexEnvi) NOTHING(glTexGenf)
NOTHING(glTexGenfv) NOTHING(glTexGeni) NOTHING(glTexImage2D) NOTHING(glTexParameteri)
NOTHING(glVertex2f) NOTHING(glVertex2fv) NOTHING(glVertex2i) NOTHING(glVertex3f) NOTHING(glVertex3fv)
NOTHING(glVertexPointer) NOTHING(glViewport) NOTHING(gluBuild2DMipmaps) NOTHING(gluCylinder) NOTHING(gluDeleteQuadric)
NOTHING(gluDisk) NOTHING(gluQuadricDrawStyle) NOTHING(gluQuadricNormals)
NOTHING(gluQuadricOrientation) NOTHING(gluQuadricTexture) NOTHING(gluScaleImage) NOTHING(gluSphere)
/* No extension is found, so that the game asks for none. */
NOTHING(glewInit)

static unsigned names = 1;

unsigned glGenLists(int count) { unsigned first = names; names += count; return first; }
void glGenTextures(int count, unsigned *out) { while (count-- > 0) *out++ = names++; }
const char *glGetString(unsigned what) { (void)what; return "none"; }
void glGetBooleanv(unsigned what, unsigned char *out) { (void)what; *out = 0; }
void glGetFloatv(unsigned what, float *out) { memset(out, 0, (what == 0x0B66 /* fog colour */ ? 4 : 1) * sizeof *out); }
void *gluNewQuadric(void) { return &names; }

int gluProject(double x, double y, double z, const double *model, const double *projection, const int *view,
               double *window_x, double *window_y, double *window_z) {
    (void)x, (void)y, (void)z, (void)model, (void)projection, (void)view;
    *window_x = *window_y = *window_z = 0;
    return 1;
}

void glGetIntegerv(unsigned what, int *out) {
    switch (what) {
    case 0x0BA2: /* viewport */ memcpy(out, (int[]){0, 0, 96, 72}, 4 * sizeof *out); break;
    case 0x0D31: /* lights */ *out = 8; break;
    case 0x0D33: /* texture size */ *out = 64; break;
    case 0x0D56: /* depth bits */ *out = 24; break;
    default: *out = 0;
    }
}

/* ---- The eyes: what the client would have shown. Its radar draws its own tank in the middle, by moving the world the
 * other way, and every other living tank at its place; matrices are pushed, turned and moved for that in a way that
 * nothing else does. One line a frame: when the frame began in nanoseconds, where its own tank is, and the others. */

enum { TANKS = 256 };
static char calls[4];
static int depth = -1, looked, others;
static float own[2], other[TANKS][2];

static void called(char what) {
    memmove(calls, calls + 1, 3);
    calls[3] = what;
}

void glPushMatrix(void) {
    called('p');
    if (depth >= 0) depth++;
}

void glPopMatrix(void) {
    called('o');
    if (depth >= 0) depth--;
}

void glRotatef(float angle, float x, float y, float z) {
    (void)angle, (void)x, (void)y, (void)z;
    called('r');
}

void glTranslatef(float x, float y, float z) {
    if (z == 0 && !looked && !memcmp(calls + 1, "prp", 3)) {
        looked = 1, depth = others = 0;
        own[0] = -x, own[1] = -y;
    } else if (z == 0 && depth == 1 && calls[3] == 'p' && others < TANKS) {
        other[others][0] = x, other[others++][1] = y;
    }
    called('t');
}

static void look(int64_t began) {
    static FILE *eyes;
    static int blind;
    if (!eyes && !blind) {
        const char *path = getenv("EVENKEEL_EYES");
        blind = !path || !(eyes = fopen(path, "w"));
    }
    if (eyes && others) {
        fprintf(eyes, "%lld %.3f %.3f", (long long)began, own[0], own[1]);
        for (int i = 0; i < others; i++) fprintf(eyes, " %.3f %.3f", other[i][0], other[i][1]);
        fputc('\n', eyes);
    }
    depth = -1, looked = others = 0;
}

/* ---- The window: one of SDL's "dummy" driver, which knows no OpenGL and must not be asked for it. */

void *SDL_CreateWindow(const char *title, int x, int y, int w, int h, uint32_t flags) {
    void *(*real)(const char *, int, int, int, int, uint32_t) = dlsym(RTLD_NEXT, "SDL_CreateWindow");
    return real(title, x, y, w, h, flags & ~(uint32_t)2 /* OpenGL */);
}

NOTHING(SDL_GL_SetAttribute) NOTHING(SDL_GL_SetSwapInterval) NOTHING(SDL_GL_MakeCurrent) NOTHING(SDL_GL_DeleteContext)
void *SDL_GL_CreateContext(void *window) { return window; }
void *SDL_GL_GetCurrentContext(void) { return &names; }

/* ---- The hands. */

int SDL_PushEvent(void *event);

static void key(uint32_t type, int32_t symbol) {
    union {
        struct {
            uint32_t type, time, window;
            uint8_t pressed, repeat, pad[2];
            int32_t scancode, symbol;
            uint16_t mod;
            uint32_t unused;
        } key;
        uint8_t size[128];
    } event;
    memset(&event, 0, sizeof event);
    event.key.type = type;
    event.key.pressed = type == 0x300;
    event.key.symbol = symbol;
    SDL_PushEvent(&event);
}

static void press(int32_t symbol) { key(0x300, symbol); key(0x301, symbol); }

/* `9` is a switch: whether it took is seen by the message (length 1, code "au", on or off) that the client sends for
 * it. */
static int piloted;

ssize_t send(int socket, const void *bytes, size_t length, int flags) {
    static ssize_t (*real)(int, const void *, size_t, int);
    if (!real) real = dlsym(RTLD_NEXT, "send");
    if (length == 5 && !memcmp(bytes, "\0\1au", 4)) piloted = ((const char *)bytes)[4];
    return real(socket, bytes, length, flags);
}

/* Once a second until the pilot is at the wheel: from then on the game itself spawns again after each death. It
 * passes over both keys before it has joined, and when it takes `9` it has taken the `I` before it. */
static void play(void) {
    if (piloted) return;
    press('i');
    press('9');
}

/* ---- The port. The client's UDP goes out from the port that its TCP was given, and the server hears nothing from
 * those whose lower byte is below 4: it takes them, bytes swapped, for ports below 1024. One client in 64 would be
 * removed. */

static void take_a_port_that_is_heard(int stream) {
    for (int tries = 0; tries < 64; tries++) {
        struct sockaddr_in at = {.sin_family = AF_INET};
        struct sockaddr *any = (struct sockaddr *)&at;
        socklen_t length = sizeof at;
        int probe = socket(AF_INET, SOCK_DGRAM, 0);
        if (probe < 0) return;
        int found = !bind(probe, any, length) && !getsockname(probe, any, &length);
        close(probe);
        if (found && ntohs(at.sin_port) % 256 >= 4 && !bind(stream, any, length)) return;
    }
}

int connect(int socket, const struct sockaddr *to, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    int type = 0;
    socklen_t size = sizeof type;
    getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size);
    if (to->sa_family == AF_INET && type == SOCK_STREAM) take_a_port_that_is_heard(socket);
    return real(socket, to, length);
}

/* ---- The screen: the swap returns at the next tick. A frame that is late waits for the tick after, as with a real
 * screen. The game draws between moving its tank and sending where that is, so that what it sends is one frame old,
 * as on any machine where drawing takes up the frame. */

void SDL_GL_SwapWindow(void *window) {
    enum { HZ = 60, SECOND = 1000000000 };
    static int64_t tick, frames, began;
    (void)window;
    look(began);
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t now = (int64_t)at.tv_sec * SECOND + at.tv_nsec, period = SECOND / HZ;
    if (tick == 0) tick = now;
    tick += period;
    if (tick < now) tick += (now - tick + period - 1) / period * period;
    at.tv_sec = tick / SECOND;
    at.tv_nsec = tick % SECOND;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0)) {}
    clock_gettime(CLOCK_MONOTONIC, &at);
    began = (int64_t)at.tv_sec * SECOND + at.tv_nsec;
    if (++frames % HZ == 0) play();
}
