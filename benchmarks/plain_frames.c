/* The limit of mujoco_frames.py: libmujoco draws many simulations of one model in a loop, with one EGL context.
 *
 * One thread makes all calls. Functions that create something return NULL if EGL, the model or memory is unavailable.
 */
#include <mujoco/mujoco.h>
#include <string.h>

#include "gl.h"

typedef struct plain_frames {
  mjModel *model;
  mjData **data; /* simulations (num_envs) */
  int num_envs, height, width;
  ep_gl_context gl;
  mjrContext context;
  mjvScene scene;
  mjvOption option;
  mjvPerturb perturb;
  mjvCamera camera;
  unsigned char *rows; /* one frame, bottom row first (height, width, 3) */
} plain_frames;

/* Loads the model at `path` and prepares frames of num_envs simulations, seen by a free camera that looks at `lookat` (3)
 * from `distance`. The result lives until the process ends. */
void *plain_frames_new(const char *path, int num_envs, int height, int width, const double *lookat, double distance) {
  char error[256];
  ep_gl_before before = {0};
  plain_frames *p = calloc(1, sizeof *p);
  if (!p || ep_gl_load(EP_GL_EGL, "libEGL.so.1", -1, error, sizeof error)) return NULL;
  p->model = mj_loadXML(path, NULL, error, sizeof error);
  p->data = calloc((size_t)num_envs, sizeof *p->data);
  p->rows = malloc((size_t)height * width * 3);
  if (!p->model || !p->data || !p->rows || ep_gl->create(&p->gl, error, sizeof error)) return NULL;
  p->num_envs = num_envs, p->height = height, p->width = width;
  for (int i = 0; i < num_envs; i++) {
    if (!(p->data[i] = mj_makeData(p->model))) return NULL;
    mj_forward(p->model, p->data[i]);
  }
  mjv_defaultOption(&p->option);
  mjv_defaultPerturb(&p->perturb);
  mjv_defaultCamera(&p->camera);
  memcpy(p->camera.lookat, lookat, 3 * sizeof *lookat);
  p->camera.distance = distance;
  if (ep_gl->enter(&p->gl, &before, error, sizeof error)) return NULL;
  mjv_defaultScene(&p->scene);
  mjv_makeScene(p->model, &p->scene, 1000);
  mjr_defaultContext(&p->context);
  mjr_makeContext(p->model, &p->context, mjFONTSCALE_150);
  mjr_resizeOffscreen(width, height, &p->context);
  mjr_setBuffer(mjFB_OFFSCREEN, &p->context);
  ep_gl->leave(&before);
  return p;
}

/* Draws a frame of each simulation into `pixels` (num_envs, height, width, 3), top row first. */
void plain_frames_draw(void *state, unsigned char *pixels) {
  plain_frames *p = state;
  const mjrRect view = {0, 0, p->width, p->height};
  const size_t row = (size_t)p->width * 3;
  char error[256];
  ep_gl_before before = {0};
  if (ep_gl->enter(&p->gl, &before, error, sizeof error)) return;
  for (int i = 0; i < p->num_envs; i++) {
    mjv_updateScene(p->model, p->data[i], &p->option, &p->perturb, &p->camera, mjCAT_ALL, &p->scene);
    mjr_render(view, &p->scene, &p->context);
    mjr_readPixels(p->rows, NULL, view, &p->context);
    for (int y = 0; y < p->height; y++, pixels += row) memcpy(pixels, p->rows + (p->height - 1 - y) * row, row);
  }
  ep_gl->leave(&before);
}
