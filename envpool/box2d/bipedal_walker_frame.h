/* Frames of BipedalWalker: the pixels that gymnasium's environment draws with pygame, 600 x 400 of them.
 *
 * Upstream draws everything from the left end of the terrain onwards and shows the last 600 columns. Here only these
 * columns are drawn.
 */
#ifndef ENVPOOL_BOX2D_BIPEDAL_WALKER_FRAME_H
#define ENVPOOL_BOX2D_BIPEDAL_WALKER_FRAME_H

#include "envpool/box2d/outline.h"
#include "envpool/box2d/scene.h"

enum {
  WALKER_HEIGHT = 400,
  WALKER_WIDTH = 600,
  WALKER_LENGTH = 400, /* most corners of the ground                                                                 */
  WALKER_CLOUDS = WALKER_LENGTH / 20,
  WALKER_CLOUD_CORNERS = 5,
  WALKER_PARTS = 5
};

/* Everything that a frame shows. */
struct WalkerScene {
  double step;                                     /* distance from one corner of the ground to the next, m          */
  double height;                                   /* of the foot of the flag, m                                     */
  const double *ground;                            /* heights of the corners (length), m                             */
  int32 length;
  const double (*clouds)[WALKER_CLOUD_CORNERS][2]; /* corners (num_clouds), m; clouds scroll at half speed           */
  int32 num_clouds;
  b2Body *const *terrain;                          /* (num_terrain): obstacles, followed by the edges of the ground  */
  int32 num_terrain;
  const b2Body *parts[WALKER_PARTS]; /* upper and lower segment of the first leg and of the second leg; the hull     */
  const double (*ray)[2];            /* end points (2) of the lidar ray, m; NULL if the frame shows no ray           */
};

static inline void walker_draw_clouds(const canvas *c, const WalkerScene *s, double scroll) {
  for (int32 i = 0; i < s->num_clouds; i++) {
    double places[WALKER_CLOUD_CORNERS][2], left = s->clouds[i][0][0], right = left;
    for (int32 k = 0; k < WALKER_CLOUD_CORNERS; k++) {
      const double x = s->clouds[i][k][0];
      left = x < left ? x : left;
      right = x > right ? x : right;
      places[k][0] = x * OUTLINE_SCALE + scroll * OUTLINE_SCALE / 2;
      places[k][1] = s->clouds[i][k][1] * OUTLINE_SCALE;
    }
    if (!(right < scroll / 2 || left > scroll / 2 + WALKER_WIDTH / 30.0))
      outline_fill(c, places, WALKER_CLOUD_CORNERS, 0xffffff);
  }
}

static inline void walker_draw_ground(const canvas *c, const WalkerScene *s, double scroll) {
  for (int32 i = 0; i < s->length - 1; i++) {
    const double left = i * s->step, right = (i + 1) * s->step;
    const double places[4][2] = {{left * OUTLINE_SCALE, s->ground[i] * OUTLINE_SCALE},
                                 {right * OUTLINE_SCALE, s->ground[i + 1] * OUTLINE_SCALE},
                                 {right * OUTLINE_SCALE, 0},
                                 {left * OUTLINE_SCALE, 0}};
    if (!(right < scroll || left > scroll + WALKER_WIDTH / 30.0)) outline_fill(c, places, 4, 0x4c9966);
  }
}

/* Draws a body with a border. As upstream, the border repeats its first corner at the end. */
static inline void walker_draw_part(const canvas *c, const b2Body *body, uint32_t colour, uint32_t border) {
  Outline o = outline_of(body);
  outline_fill(c, o.corners, o.count, colour);
  if (o.count == POLYGON_VERTICES) return;
  o.corners[o.count][0] = o.corners[0][0];
  o.corners[o.count][1] = o.corners[0][1];
  line_draw_around(c, o.corners, o.count + 1, border);
  gfx_draw_outline(c, o.corners, o.count + 1, border);
}

static inline void walker_draw_terrain(const canvas *c, const WalkerScene *s) {
  for (int32 i = s->num_terrain - 1; i >= 0; i--) {
    const int32 edge = i - (s->num_terrain - (s->length - 1));
    if (edge < 0) {
      walker_draw_part(c, s->terrain[i], 0xffffff, 0x999999);
    } else {
      const Outline o = outline_of(s->terrain[i]);
      outline_line(c, o.corners[0], o.corners[1], edge % 2 == 0 ? 0x4cff4c : 0x4ccc4c);
    }
  }
}

static inline void walker_draw_flag(const canvas *c, const WalkerScene *s) {
  const double x = s->step * 3 * OUTLINE_SCALE, low = s->height * OUTLINE_SCALE, high = low + 50;
  const double pole[2][2] = {{x, low}, {x, high}}, flag[3][2] = {{x, high}, {x, high - 10}, {x + 25, high - 5}};
  outline_line(c, pole[0], pole[1], 0);
  polygon_draw(c, flag, 3, 0x0033e6);
  line_draw_around(c, flag, 3, 0);
}

/* Draws a frame into RGB pixels (WALKER_HEIGHT, WALKER_WIDTH, 3). */
static inline void walker_draw(const WalkerScene *s, uint8_t *pixels) {
  static const uint32_t colours[WALKER_PARTS] = {0x9865b2, 0x9865b2, 0x663380, 0x663380, 0xe5337f};
  static const uint32_t borders[WALKER_PARTS] = {0x654c7f, 0x654c7f, 0x331a4d, 0x331a4d, 0x7f4c4c};
  const double scroll = s->parts[WALKER_PARTS - 1]->GetPosition().x - WALKER_WIDTH / 30.0 / 5, from = scroll * OUTLINE_SCALE;
  const double width = WALKER_WIDTH + (scroll > 0 ? scroll : 0) * OUTLINE_SCALE;
  const canvas c = canvas_window(pixels, WALKER_HEIGHT, WALKER_WIDTH, canvas_coordinate(width < 1e6 ? width : 1e6));
  const double sky[4][2] = {{from, 0}, {from + WALKER_WIDTH, 0}, {from + WALKER_WIDTH, WALKER_HEIGHT}, {from, WALKER_HEIGHT}};
  canvas_clear(&c, 0);
  polygon_draw(&c, sky, 4, 0xffd7d7);
  walker_draw_clouds(&c, s, scroll);
  walker_draw_ground(&c, s, scroll);
  if (s->ray) {
    const double ends[2][2] = {{s->ray[0][0] * OUTLINE_SCALE, s->ray[0][1] * OUTLINE_SCALE},
                               {s->ray[1][0] * OUTLINE_SCALE, s->ray[1][1] * OUTLINE_SCALE}};
    line_draw(&c, ends[0], ends[1], 0x0000ff);
  }
  walker_draw_terrain(&c, s);
  for (int32 i = 0; i < WALKER_PARTS; i++) walker_draw_part(&c, s->parts[i], colours[i], borders[i]);
  walker_draw_flag(&c, s);
}

#endif /* ENVPOOL_BOX2D_BIPEDAL_WALKER_FRAME_H */
