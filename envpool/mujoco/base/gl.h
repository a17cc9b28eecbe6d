/* OpenGL contexts without a window, from EGL, OSMesa or GLFW.
 *
 * Nothing is linked: ep_gl_load() opens the library when the first frame is needed. One of the three libraries serves
 * the whole process, since libmujoco keeps a single table of OpenGL functions. The library and EGL's display stay open
 * until the process ends, since other code in the process may use them.
 *
 * A context is current on one thread at a time, between ep_gl_enter() and ep_gl_leave(). ep_gl_leave() makes the
 * previous context of the thread current again, since other code may rely on it.
 */
#ifndef ENVPOOL_MUJOCO_GL_H
#define ENVPOOL_MUJOCO_GL_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ep_gl_context {
  void *handle;
  void *buffer; /* OSMesa: the memory that stands for the window */
} ep_gl_context;

/* The context and surfaces that were current on a thread before ep_gl_enter(). */
typedef struct ep_gl_before {
  void *context, *display, *draw, *read;
  unsigned long drawable;
  int width, height, type;
  unsigned api;
} ep_gl_before;

/* The functions of a library. They return 0, or -1 with a reason in `error` (size bytes). */
typedef struct ep_gl_backend {
  int (*load)(const char *library, int device, char *error, size_t size);
  int (*create)(ep_gl_context *context, char *error, size_t size);
  void (*destroy)(ep_gl_context *context);
  int (*enter)(ep_gl_context *context, ep_gl_before *before, char *error, size_t size);
  void (*leave)(const ep_gl_before *before);
} ep_gl_backend;

/* Frames are rendered into offscreen buffers, so the size of the window does not matter (pixels). */
enum { EP_GL_WINDOW = 16 };

static inline int ep_gl_fail(char *error, size_t size, const char *what, const char *detail) {
  snprintf(error, size, "%s%s%s", what, detail ? ": " : "", detail ? detail : "");
  return -1;
}

/* Opens a library with global symbols; returns NULL with a reason in `error` if that fails. */
static inline void *ep_gl_open(const char *library, char *error, size_t size) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (!opened) ep_gl_fail(error, size, dlerror(), NULL);
  return opened;
}

/* Looks up n functions: the address of names[k] is stored in *where[k]. */
static inline int ep_gl_find(void *library, const char *const *names, void **where[], int n, char *error, size_t size) {
  for (int k = 0; k < n; k++) {
    *where[k] = dlsym(library, names[k]);
    if (!*where[k]) return ep_gl_fail(error, size, "the library lacks the function", names[k]);
  }
  return 0;
}

/* ---- EGL --------------------------------------------------------------------------------------------------------- */

enum {
  EP_EGL_PLATFORM_DEVICE = 0x313F,
  EP_EGL_OPENGL_API = 0x30A2,
  EP_EGL_DRAW = 0x3059,
  EP_EGL_READ = 0x305A,
  EP_EGL_DEVICES = 32,
  EP_GL_RENDERER = 0x1F01
};

static struct {
  void *(*get_proc)(const char *name);
  unsigned (*initialize)(void *display, int *major, int *minor);
  unsigned (*choose_config)(void *display, const int *attributes, void **configs, int size, int *found);
  unsigned (*bind_api)(unsigned api);
  unsigned (*query_api)(void);
  void *(*create_context)(void *display, void *config, void *share, const int *attributes);
  unsigned (*destroy_context)(void *display, void *context);
  unsigned (*make_current)(void *display, void *draw, void *read, void *context);
  void *(*current_context)(void);
  void *(*current_display)(void);
  void *(*current_surface)(int which);
  void *display;
  void *config;
} ep_egl;

static int ep_egl_load(const char *library, int device, char *error, size_t size) {
  static const char *const names[] = {"eglGetProcAddress", "eglInitialize",        "eglChooseConfig",
                                      "eglBindAPI",        "eglQueryAPI",          "eglCreateContext",
                                      "eglDestroyContext", "eglMakeCurrent",       "eglGetCurrentContext",
                                      "eglGetCurrentDisplay", "eglGetCurrentSurface"};
  void **where[] = {(void **)&ep_egl.get_proc,        (void **)&ep_egl.initialize,     (void **)&ep_egl.choose_config,
                    (void **)&ep_egl.bind_api,        (void **)&ep_egl.query_api,      (void **)&ep_egl.create_context,
                    (void **)&ep_egl.destroy_context, (void **)&ep_egl.make_current,   (void **)&ep_egl.current_context,
                    (void **)&ep_egl.current_display, (void **)&ep_egl.current_surface};
  /* As upstream requests: 8 bits each for red, green, blue and alpha, depth 24, stencil 8, RGB, pbuffers, OpenGL. */
  static const int wanted[] = {0x3024, 8, 0x3023, 8, 0x3022, 8,      0x3021, 8,      0x3025, 24,
                               0x3026, 8, 0x303F, 0x308E, 0x3033, 0x0001, 0x3040, 0x0008, 0x3038};
  unsigned (*query_devices)(int size, void **devices, int *found);
  void *(*platform_display)(unsigned platform, void *native, const int *attributes);
  void *devices[EP_EGL_DEVICES];
  int found = 0, first, k;
  void *egl;
  dlopen("libOpenGL.so.0", RTLD_NOW | RTLD_GLOBAL); /* NVIDIA's EGL needs it for threads */
  egl = ep_gl_open(library, error, size);
  if (!egl || ep_gl_find(egl, names, where, sizeof(names) / sizeof(*names), error, size)) return -1;
  query_devices = (unsigned (*)(int, void **, int *))ep_egl.get_proc("eglQueryDevicesEXT");
  platform_display = (void *(*)(unsigned, void *, const int *))ep_egl.get_proc("eglGetPlatformDisplayEXT");
  if (!query_devices || !platform_display || !query_devices(EP_EGL_DEVICES, devices, &found) || found < 1)
    return ep_gl_fail(error, size, "EGL finds no device, not even a software renderer", NULL);
  if (device >= found) {
    snprintf(error, size, "MUJOCO_EGL_DEVICE_ID must be between 0 and %d, got %d", found - 1, device);
    return -1;
  }
  first = device < 0 ? 0 : device;
  for (k = first; k < (device < 0 ? found : device + 1); k++) {
    ep_egl.display = platform_display(EP_EGL_PLATFORM_DEVICE, devices[k], NULL);
    if (ep_egl.display && ep_egl.initialize(ep_egl.display, NULL, NULL)) break;
    ep_egl.display = NULL;
  }
  if (!ep_egl.display) return ep_gl_fail(error, size, "EGL cannot initialise any of its devices", NULL);
  if (!ep_egl.choose_config(ep_egl.display, wanted, &ep_egl.config, 1, &found) || found < 1)
    return ep_gl_fail(error, size, "EGL has no configuration with OpenGL", NULL);
  return 0;
}

static int ep_egl_create(ep_gl_context *context, char *error, size_t size) {
  const unsigned api = ep_egl.query_api();
  ep_egl.bind_api(EP_EGL_OPENGL_API);
  context->handle = ep_egl.create_context(ep_egl.display, ep_egl.config, NULL, NULL);
  ep_egl.bind_api(api);
  return context->handle ? 0 : ep_gl_fail(error, size, "EGL cannot create a context", NULL);
}

static void ep_egl_destroy(ep_gl_context *context) { ep_egl.destroy_context(ep_egl.display, context->handle); }

static int ep_egl_enter(ep_gl_context *context, ep_gl_before *before, char *error, size_t size) {
  before->api = ep_egl.query_api();
  ep_egl.bind_api(EP_EGL_OPENGL_API);
  before->context = ep_egl.current_context();
  before->display = ep_egl.current_display();
  before->draw = ep_egl.current_surface(EP_EGL_DRAW);
  before->read = ep_egl.current_surface(EP_EGL_READ);
  if (ep_egl.make_current(ep_egl.display, NULL, NULL, context->handle)) return 0;
  ep_egl.bind_api(before->api);
  return ep_gl_fail(error, size, "EGL cannot make its context current", NULL);
}

static void ep_egl_leave(const ep_gl_before *before) {
  void *display = before->context ? before->display : ep_egl.display;
  ep_egl.make_current(display, before->draw, before->read, before->context);
  ep_egl.bind_api(before->api);
}

/* ---- Taking turns ------------------------------------------------------------------------------------------------ */

/* Contexts of Mesa's llvmpipe (22.3.6) share data without protection: if two threads are in OpenGL at the same time, the
 * process crashes now and then. Threads gain nothing there, since llvmpipe draws on threads of its own. So one thread at
 * a time uses OpenGL, until a context tells that its renderer is another one. */
static pthread_mutex_t ep_gl_turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int ep_gl_takes_turns = 1;

/* Begins the use of OpenGL on this thread; the result is the argument of ep_gl_end(). */
static int ep_gl_begin(void) {
  const int waits = __atomic_load_n(&ep_gl_takes_turns, __ATOMIC_RELAXED);
  if (waits) pthread_mutex_lock(&ep_gl_turn);
  return waits;
}

static void ep_gl_end(int has_waited) {
  if (has_waited) pthread_mutex_unlock(&ep_gl_turn);
}

/* Ends the taking of turns unless the current context belongs to llvmpipe, or may do so. */
static void ep_gl_look_at_renderer(void) {
  const char *(*get_string)(unsigned name) = NULL;
  const char *renderer = NULL;
  if (ep_egl.display) get_string = (const char *(*)(unsigned))ep_egl.get_proc("glGetString");
  if (get_string) renderer = get_string(EP_GL_RENDERER);
  if (renderer && !strstr(renderer, "llvmpipe")) __atomic_store_n(&ep_gl_takes_turns, 0, __ATOMIC_RELAXED);
}

/* ---- OSMesa ------------------------------------------------------------------------------------------------------ */

enum { EP_OSMESA_RGBA = 0x1908, EP_OSMESA_TYPE = 0x23, EP_GL_FLOAT = 0x1406 };

static struct {
  void *(*create_context)(unsigned format, int depth, int stencil, int accumulation, void *share);
  void (*destroy_context)(void *context);
  unsigned char (*make_current)(void *context, void *buffer, unsigned type, int width, int height);
  void *(*current_context)(void);
  unsigned char (*color_buffer)(void *context, int *width, int *height, int *format, void **buffer);
  void (*get_integer)(int name, int *value);
} ep_osmesa;

static int ep_osmesa_load(const char *library, int device, char *error, size_t size) {
  static const char *const names[] = {"OSMesaCreateContextExt",  "OSMesaDestroyContext", "OSMesaMakeCurrent",
                                      "OSMesaGetCurrentContext", "OSMesaGetColorBuffer", "OSMesaGetIntegerv"};
  void **where[] = {(void **)&ep_osmesa.create_context,  (void **)&ep_osmesa.destroy_context,
                    (void **)&ep_osmesa.make_current,    (void **)&ep_osmesa.current_context,
                    (void **)&ep_osmesa.color_buffer,    (void **)&ep_osmesa.get_integer};
  void *osmesa = ep_gl_open(library, error, size);
  (void)device;
  return osmesa ? ep_gl_find(osmesa, names, where, sizeof(names) / sizeof(*names), error, size) : -1;
}

static int ep_osmesa_create(ep_gl_context *context, char *error, size_t size) {
  context->handle = ep_osmesa.create_context(EP_OSMESA_RGBA, 24, 8, 0, NULL);
  if (!context->handle) return ep_gl_fail(error, size, "OSMesa cannot create a context", NULL);
  context->buffer = calloc(EP_GL_WINDOW * EP_GL_WINDOW * 4, sizeof(float));
  if (context->buffer) return 0;
  ep_osmesa.destroy_context(context->handle);
  return ep_gl_fail(error, size, "not enough memory for an OSMesa context", NULL);
}

static void ep_osmesa_destroy(ep_gl_context *context) {
  ep_osmesa.destroy_context(context->handle);
  free(context->buffer);
}

static int ep_osmesa_enter(ep_gl_context *context, ep_gl_before *before, char *error, size_t size) {
  int format;
  before->context = ep_osmesa.current_context();
  if (before->context) {
    ep_osmesa.get_integer(EP_OSMESA_TYPE, &before->type);
    ep_osmesa.color_buffer(before->context, &before->width, &before->height, &format, &before->draw);
  }
  if (ep_osmesa.make_current(context->handle, context->buffer, EP_GL_FLOAT, EP_GL_WINDOW, EP_GL_WINDOW)) return 0;
  return ep_gl_fail(error, size, "OSMesa cannot make its context current", NULL);
}

static void ep_osmesa_leave(const ep_gl_before *before) {
  if (before->context)
    ep_osmesa.make_current(before->context, before->draw, (unsigned)before->type, before->width, before->height);
  else
    ep_osmesa.make_current(NULL, NULL, EP_GL_FLOAT, 0, 0);
}

/* ---- GLFW -------------------------------------------------------------------------------------------------------- */

enum { EP_GLFW_VISIBLE = 0x00020004, EP_GLFW_DOUBLEBUFFER = 0x00021010 };

static struct {
  int (*init)(void);
  int (*get_error)(const char **description);
  void (*hint)(int hint, int value);
  void *(*create_window)(int width, int height, const char *title, void *monitor, void *share);
  void (*destroy_window)(void *window);
  void (*make_current)(void *window);
  void *(*current_context)(void);
  unsigned long (*current_drawable)(void);
  void *(*current_display)(void);
  int (*restore)(void *display, unsigned long drawable, void *context);
  pthread_mutex_t lock; /* GLFW serves one thread at a time */
} ep_glfw = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int ep_glfw_fail(char *error, size_t size, const char *what) {
  const char *detail = NULL;
  ep_glfw.get_error(&detail);
  return ep_gl_fail(error, size, what, detail);
}

static int ep_glfw_load(const char *library, int device, char *error, size_t size) {
  static const char *const names[] = {"glfwInit",         "glfwGetError",      "glfwWindowHint",
                                      "glfwCreateWindow", "glfwDestroyWindow", "glfwMakeContextCurrent"};
  void **where[] = {(void **)&ep_glfw.init,          (void **)&ep_glfw.get_error,      (void **)&ep_glfw.hint,
                    (void **)&ep_glfw.create_window, (void **)&ep_glfw.destroy_window, (void **)&ep_glfw.make_current};
  static const char *const glx_names[] = {"glXGetCurrentContext", "glXGetCurrentDrawable", "glXGetCurrentDisplay",
                                          "glXMakeCurrent"};
  void **glx_where[] = {(void **)&ep_glfw.current_context, (void **)&ep_glfw.current_drawable,
                        (void **)&ep_glfw.current_display, (void **)&ep_glfw.restore};
  void *glfw = dlopen(library, RTLD_NOW | RTLD_LOCAL), *glx; /* local symbols: other code may have another GLFW */
  (void)device;
  if (!glfw) return ep_gl_fail(error, size, dlerror(), NULL);
  if (ep_gl_find(glfw, names, where, sizeof(names) / sizeof(*names), error, size)) return -1;
  if (!ep_glfw.init()) return ep_glfw_fail(error, size, "GLFW cannot be initialised");
  glx = ep_gl_open("libGL.so.1", error, size);
  return glx ? ep_gl_find(glx, glx_names, glx_where, sizeof(glx_names) / sizeof(*glx_names), error, size) : -1;
}

static void ep_glfw_save(ep_gl_before *before) {
  before->context = ep_glfw.current_context();
  before->drawable = ep_glfw.current_drawable();
  before->display = ep_glfw.current_display();
}

static void ep_glfw_restore(const ep_gl_before *before) {
  if (before->context) ep_glfw.restore(before->display, before->drawable, before->context);
}

/* GLFW makes the new window current for a moment, and no context afterwards. */
static int ep_glfw_create(ep_gl_context *context, char *error, size_t size) {
  ep_gl_before before;
  pthread_mutex_lock(&ep_glfw.lock);
  ep_glfw_save(&before);
  ep_glfw.hint(EP_GLFW_VISIBLE, 0);
  ep_glfw.hint(EP_GLFW_DOUBLEBUFFER, 0);
  context->handle = ep_glfw.create_window(EP_GL_WINDOW, EP_GL_WINDOW, "envpool", NULL, NULL);
  ep_glfw_restore(&before);
  pthread_mutex_unlock(&ep_glfw.lock);
  return context->handle ? 0 : ep_glfw_fail(error, size, "GLFW cannot create a window");
}

static void ep_glfw_destroy(ep_gl_context *context) {
  pthread_mutex_lock(&ep_glfw.lock);
  ep_glfw.destroy_window(context->handle);
  pthread_mutex_unlock(&ep_glfw.lock);
}

static int ep_glfw_enter(ep_gl_context *context, ep_gl_before *before, char *error, size_t size) {
  pthread_mutex_lock(&ep_glfw.lock);
  ep_glfw_save(before);
  ep_glfw.make_current(context->handle);
  const int is_current = ep_glfw.current_context() && ep_glfw.current_context() != before->context;
  pthread_mutex_unlock(&ep_glfw.lock);
  return is_current ? 0 : ep_glfw_fail(error, size, "GLFW cannot make its window current");
}

static void ep_glfw_leave(const ep_gl_before *before) {
  pthread_mutex_lock(&ep_glfw.lock);
  ep_glfw.make_current(NULL);
  ep_glfw_restore(before);
  pthread_mutex_unlock(&ep_glfw.lock);
}

/* ---- the library in use ------------------------------------------------------------------------------------------ */

enum { EP_GL_GLFW = 0, EP_GL_EGL = 1, EP_GL_OSMESA = 2 };

static const ep_gl_backend ep_gl_backends[] = {
    {ep_glfw_load, ep_glfw_create, ep_glfw_destroy, ep_glfw_enter, ep_glfw_leave},
    {ep_egl_load, ep_egl_create, ep_egl_destroy, ep_egl_enter, ep_egl_leave},
    {ep_osmesa_load, ep_osmesa_create, ep_osmesa_destroy, ep_osmesa_enter, ep_osmesa_leave},
};

static const ep_gl_backend *ep_gl; /* set once, before any context is created */

/* Loads a library and checks that it can create a context. `device` is the index of an EGL device; if it is negative,
 * the first device that works is used. Must not be called by two threads at the same time. */
static inline int ep_gl_load(int kind, const char *library, int device, char *error, size_t size) {
  const ep_gl_backend *backend = &ep_gl_backends[kind];
  ep_gl_context context = {NULL, NULL};
  ep_gl_before before = {0};
  if (backend->load(library, device, error, size) || backend->create(&context, error, size)) return -1;
  const int failed = backend->enter(&context, &before, error, size);
  if (!failed) backend->leave(&before);
  backend->destroy(&context);
  if (!failed) ep_gl = backend;
  return failed;
}

#endif /* ENVPOOL_MUJOCO_GL_H */
