/* Observations and frames of CarRacing: the pixels that gymnasium's environment draws with pygame on a 1000 x 800 canvas.
 * A frame is the canvas itself, an observation is the canvas shrunk to 96 x 96.
 *
 * The canvas is drawn in bands of rows from the top. The scene comes first: field, grass, road and car, whose rows are
 * counted from the bottom. The panel with its indicators and the reward are drawn over the scene.
 */
#ifndef ENVPOOL_BOX2D_CAR_RACING_FRAME_H
#define ENVPOOL_BOX2D_CAR_RACING_FRAME_H

#include <math.h>
#include <stdio.h>

#include "envpool/raster/line.h"
#include "envpool/raster/polygon.h"
#include "envpool/raster/turn.h"
#include "shapes.h"
#include "gfx_quad.h"
#include "shrink.h"
#include "envpool/simd.h"

#define CAR_RACING_ZOOM 2.7
#define CAR_RACING_MAX_ROAD 5000                   /* largest number of tiles and borders  */
#define CAR_RACING_PANEL 100                       /* rows; a multiple of BAND_HEIGHT      */

#define CAR_RACING_GLYPHS 11 /* the digits and the minus sign */
#define CAR_RACING_GLYPH_WIDTH 23
#define CAR_RACING_GLYPH_HEIGHT 46
#define CAR_RACING_TEXT_LENGTH 20 /* largest number of glyphs of a reward */

/* A tile of the road or a piece of its border. */
typedef struct car_racing_tile {
  double vertices[4][2];
  uint32_t colour; /* 0xBBGGRR */
} car_racing_tile;

#define CAR_RACING_MARKS 30       /* the newest marks are kept, at most this many */
#define CAR_RACING_MARK_POINTS 30 /* largest number of points of a mark           */

/* The mark that a sliding wheel has left on the ground. */
typedef struct car_racing_mark {
  uint32_t colour;
  int32_t length; /* points, at least 2 */
  float points[CAR_RACING_MARK_POINTS][2];
} car_racing_mark;

/* The position and the orientation of a Box2D body. */
typedef struct car_racing_body {
  float x, y, sine, cosine;
} car_racing_body;

/* Everything that an observation or a frame shows. */
typedef struct car_racing_scene {
  const car_racing_tile *road;   /* (road_length), in drawing order      */
  int32_t road_length;           /* at most CAR_RACING_MAX_ROAD          */
  const car_racing_mark *marks;  /* ring buffer (CAR_RACING_MARKS)       */
  int64_t num_marks;             /* marks of the episode so far; 0, as in observations, shows none */
  uint32_t field_colour;
  uint32_t grass_colour;
  double field;                  /* half the width of the field, m       */
  double reach;                  /* largest extent of a tile, a border or a patch of grass, m */
  double size;                   /* unit of the outlines, m              */
  double time;                   /* s                                    */
  double hull_angle;             /* rad                                  */
  double hull_speed[2];          /* 1 / s                                */
  double hull_spin;              /* rad / s                              */
  double steering_angle;         /* of the left front wheel, rad         */
  double wheel_speed[4];         /* rad / s                              */
  double wheel_phase[4];         /* rad                                  */
  double reward;                 /* since the episode began              */
  car_racing_body hull;
  car_racing_body wheels[4];     /* left front, right front, left rear, right rear */
} car_racing_scene;

/* Constants that all observations and frames share. */
typedef struct car_racing_brush {
  cell_tables tables;
  uint8_t glyphs[CAR_RACING_GLYPHS][CAR_RACING_GLYPH_HEIGHT][CAR_RACING_GLYPH_WIDTH]; /* brightness */
  int32_t advance[CAR_RACING_GLYPHS];                    /* pixels from the start of a glyph to the next  */
  int32_t kerning[CAR_RACING_GLYPHS][CAR_RACING_GLYPHS]; /* by first and second glyph, in 1 / 64 pixels   */
} car_racing_brush;

/* The mapping from positions in the scene to positions on the canvas. */
typedef struct car_racing_camera {
  turn facing;
  double zoom, x, y;
  double size; /* unit of the outlines, m */
} car_racing_camera;

static inline void car_racing_project(const car_racing_camera *c, const double *in, double *out) {
  double turned[2];
  turn_point(&c->facing, in[0], in[1], turned);
  out[0] = turned[0] * c->zoom + c->x;
  out[1] = turned[1] * c->zoom + c->y;
}

static inline void car_racing_camera_init(car_racing_camera *c, const car_racing_scene *s) {
  c->facing = turn_of(-s->hull_angle);
  c->size = s->size;
  c->zoom = 0.1 * CAR_RACING_SCALE * fmax(1 - s->time, 0) + CAR_RACING_ZOOM * CAR_RACING_SCALE * fmin(s->time, 1);
  const double scroll[2] = {-(double)s->hull.x * c->zoom, -(double)s->hull.y * c->zoom};
  double turned[2];
  turn_point(&c->facing, scroll[0], scroll[1], turned);
  c->x = CANVAS_WIDTH / 2.0 + turned[0];
  c->y = CANVAS_HEIGHT / 4.0 + turned[1];
}

/* The figures of one canvas, in drawing order. */
typedef struct car_racing_figures {
  gfx_quad quads[1 + 400 + CAR_RACING_MAX_ROAD];
  polygon car[12];              /* four wheels with four marks, four parts of the hull */
  polygon indicators[7];
  line marks[CAR_RACING_MARKS * (CAR_RACING_MARK_POINTS - 1)];
  int32_t num_quads, num_car, num_indicators, num_marks;
  uint32_t background;        /* of the scene */
  int32_t text_left, text_width, text_length;
  int32_t text[CAR_RACING_TEXT_LENGTH];  /* glyphs */
  int32_t text_x[CAR_RACING_TEXT_LENGTH]; /* their columns in the text */
} car_racing_figures;

static inline void car_racing_add_quad(car_racing_figures *f, const car_racing_camera *c, const double (*vertices)[2],
                                       uint32_t colour) {
  int16_t x[4], y[4];
  for (int32_t i = 0; i < 4; i++) {
    double place[2];
    car_racing_project(c, vertices[i], place);
    x[i] = (int16_t)(int64_t)place[0];
    y[i] = (int16_t)(int64_t)place[1];
  }
  f->num_quads += gfx_quad_init(&f->quads[f->num_quads], x, y, CAR_RACING_PANEL, colour);
}

/* Upstream skips quadrilaterals that are far outside of the canvas and therefore invisible. Here a quadrilateral is skipped
 * if the distance of its first vertex from the hull exceeds the distance of the farthest corner of the canvas (less than
 * 800 pixels) plus its own size. If no edge of the field is visible, the field is the background. */
static inline void car_racing_add_ground(car_racing_figures *f, const car_racing_camera *c, const car_racing_scene *s) {
  const double bound = s->field, grass = bound / 20.0, view = 800 / c->zoom, reach = view + s->reach;
  const double squared = reach * reach;
  const double field[4][2] = {{bound, bound}, {bound, -bound}, {-bound, -bound}, {-bound, bound}};
  if (fabs(s->hull.x) + view < bound && fabs(s->hull.y) + view < bound) {
    f->background = s->field_colour;
  } else {
    f->background = 0;
    car_racing_add_quad(f, c, field, s->field_colour);
  }
  for (int32_t i = -20; i < 20; i += 2) {
    const double left = grass * i + 0, right = grass * i + grass;
    const double dx = left - s->hull.x;
    if (!(dx * dx <= squared))
      continue;
    for (int32_t j = -20; j < 20; j += 2) {
      const double low = grass * j + 0, high = grass * j + grass;
      const double patch[4][2] = {{right, low}, {left, low}, {left, high}, {right, high}};
      const double dy = low - s->hull.y;
      if (dx * dx + dy * dy <= squared)
        car_racing_add_quad(f, c, patch, s->grass_colour);
    }
  }
  for (int32_t i = 0; i < s->road_length; i++) {
    const double dx = s->road[i].vertices[0][0] - s->hull.x, dy = s->road[i].vertices[0][1] - s->hull.y;
    if (dx * dx + dy * dy <= squared)
      car_racing_add_quad(f, c, s->road[i].vertices, s->road[i].colour);
  }
}

static inline void car_racing_add_marks(car_racing_figures *f, const car_racing_camera *c, const car_racing_scene *s) {
  const int64_t oldest = s->num_marks > CAR_RACING_MARKS ? s->num_marks - CAR_RACING_MARKS : 0;
  for (int64_t k = oldest; k < s->num_marks; k++) {
    const car_racing_mark *mark = &s->marks[k % CAR_RACING_MARKS];
    double places[CAR_RACING_MARK_POINTS][2];
    for (int32_t i = 0; i < mark->length; i++) {
      const double point[2] = {mark->points[i][0], mark->points[i][1]};
      car_racing_project(c, point, places[i]);
    }
    for (int32_t i = 1; i < mark->length; i++)
      f->num_marks += line_init(&f->marks[f->num_marks], CANVAS_WIDTH, CANVAS_HEIGHT, places[i - 1], places[i], mark->colour);
  }
}

/* Adds a polygon that is attached to a body. */
static inline void car_racing_add_part(car_racing_figures *f, const car_racing_camera *c, const car_racing_body *b,
                                       const car_racing_part *part, uint32_t colour) {
  double places[POLYGON_VERTICES][2];
  for (int32_t i = 0; i < part->count; i++) {
    const float x = (float)(part->vertices[i][0] * c->size), y = (float)(part->vertices[i][1] * c->size);
    const double moved[2] = {(b->cosine * x - b->sine * y) + b->x, (b->sine * x + b->cosine * y) + b->y};
    car_racing_project(c, moved, places[i]);
  }
  polygon_init(&f->car[f->num_car++], places, part->count, colour);
}

static inline double car_racing_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/* Adds a wheel, with a mark across it that shows the rotation. */
static inline void car_racing_add_wheel(car_racing_figures *f, const car_racing_camera *c, const car_racing_body *b,
                                        double phase) {
  const double s1 = sin(phase), s2 = sin(phase + 1.2);
  double c1 = cos(phase), c2 = cos(phase + 1.2);
  car_racing_add_part(f, c, b, &CAR_RACING_WHEEL, 0);
  if (s1 > 0 && s2 > 0)
    return;
  if (s1 > 0)
    c1 = car_racing_sign(c1);
  if (s2 > 0)
    c2 = car_racing_sign(c2);
  const double side = CAR_RACING_WHEEL_WIDTH, begin = CAR_RACING_WHEEL_RADIUS * c1, end = CAR_RACING_WHEEL_RADIUS * c2;
  const car_racing_part mark = {4, {{-side, begin}, {side, begin}, {side, end}, {-side, end}}};
  car_racing_add_part(f, c, b, &mark, 0x4d4d4d);
}

static inline void car_racing_add_car(car_racing_figures *f, const car_racing_camera *c, const car_racing_scene *s) {
  for (int32_t i = 0; i < 4; i++)
    car_racing_add_wheel(f, c, &s->wheels[i], s->wheel_phase[i]);
  for (int32_t i = 0; i < CAR_RACING_HULL_PARTS; i++)
    car_racing_add_part(f, c, &s->hull, &CAR_RACING_HULL[i], 0x0000cc);
}

#define CAR_RACING_STEP (CANVAS_WIDTH / 40.0) /* unit of the widths of indicators */
#define CAR_RACING_RISE (CANVAS_HEIGHT / 40.0) /* unit of the heights of indicators */

/* Adds a vertical bar at column `place` if the value exceeds 1e-4. */
static inline void car_racing_add_bar(car_racing_figures *f, int32_t place, double value, double scale, uint32_t colour) {
  const double height = scale * value, step = CAR_RACING_STEP, rise = CAR_RACING_RISE;
  const double top = CANVAS_HEIGHT - (rise + rise * height), bottom = CANVAS_HEIGHT - rise;
  const double bar[4][2] = {{place * step, top}, {(place + 1) * step, top}, {(place + 1) * step, bottom}, {place * step, bottom}};
  if (fabs(value) > 1e-4)
    polygon_init(&f->indicators[f->num_indicators++], bar, 4, colour);
}

/* Adds a horizontal bar that starts at column `place` if the value exceeds 1e-4. */
static inline void car_racing_add_needle(car_racing_figures *f, int32_t place, double value, double scale, uint32_t colour) {
  const double left = place * CAR_RACING_STEP, right = (place + scale * value) * CAR_RACING_STEP;
  const double top = CANVAS_HEIGHT - 4 * CAR_RACING_RISE, bottom = CANVAS_HEIGHT - 2 * CAR_RACING_RISE;
  const double bar[4][2] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
  if (fabs(value) > 1e-4)
    polygon_init(&f->indicators[f->num_indicators++], bar, 4, colour);
}

static inline void car_racing_add_indicators(car_racing_figures *f, const car_racing_scene *s) {
  const double speed = sqrt(s->hull_speed[0] * s->hull_speed[0] + s->hull_speed[1] * s->hull_speed[1]);
  car_racing_add_bar(f, 5, speed, 0.02, 0xffffff);
  for (int32_t i = 0; i < 4; i++)
    car_racing_add_bar(f, 7 + i, s->wheel_speed[i], 0.01, i < 2 ? 0xff0000 : 0xff0033);
  car_racing_add_needle(f, 20, s->steering_angle, -10.0, 0x00ff00);
  car_racing_add_needle(f, 30, s->hull_spin, -0.8, 0x0000ff);
}

/* Adds the reward. Glyphs start at whole pixels, although kerning accumulates in fractions of pixels; where glyphs overlap,
 * the brighter pixel counts. */
static inline void car_racing_add_text(car_racing_figures *f, const car_racing_brush *brush, double reward) {
  char text[400];
  snprintf(text, sizeof text, "%04.0f", reward);
  int32_t x = 0, n = 0;
  for (const char *p = text; n < CAR_RACING_TEXT_LENGTH && (*p == '-' || (*p >= '0' && *p <= '9')); p++, n++) {
    f->text[n] = *p == '-' ? CAR_RACING_GLYPHS - 1 : *p - '0';
    if (n)
      x += 64 * brush->advance[f->text[n - 1]] + brush->kerning[f->text[n - 1]][f->text[n]];
    f->text_x[n] = x >> 6;
  }
  f->text_length = n;
  f->text_width = n ? f->text_x[n - 1] + brush->advance[f->text[n - 1]] : 0;
  f->text_left = 60 - f->text_width / 2;
}

static inline void car_racing_draw_text(band *b, const car_racing_figures *f, const car_racing_brush *brush) {
  const int32_t top = CANVAS_HEIGHT - 50 - CAR_RACING_GLYPH_HEIGHT / 2;
  uint8_t line[CAR_RACING_TEXT_LENGTH * (CAR_RACING_GLYPH_WIDTH + 6)];
  for (int32_t y = at_least(top, b->low); y <= at_most(top + CAR_RACING_GLYPH_HEIGHT - 1, b->high); y++) {
    memset(line, 0, sizeof line);
    for (int32_t i = 0; i < f->text_length; i++) {
      const uint8_t *glyph = brush->glyphs[f->text[i]][y - top];
      uint8_t *out = line + f->text_x[i];
      for (int32_t k = 0; k < brush->advance[f->text[i]]; k++)
        if (glyph[k] > out[k])
          out[k] = glyph[k];
    }
    for (int32_t x = 0, end; x < f->text_width; x = end) { /* runs of one brightness */
      for (end = x + 1; end < f->text_width && line[end] == line[x];)
        end++;
      band_fill(b, y, f->text_left + x, f->text_left + end - 1, 0x010101u * line[x]);
    }
  }
}

static inline void car_racing_figures_init(car_racing_figures *f, const car_racing_brush *brush, const car_racing_scene *s) {
  car_racing_camera camera;
  f->num_quads = f->num_car = f->num_indicators = f->num_marks = 0;
  car_racing_camera_init(&camera, s);
  car_racing_add_ground(f, &camera, s);
  car_racing_add_marks(f, &camera, s);
  car_racing_add_car(f, &camera, s);
  car_racing_add_indicators(f, s);
  car_racing_add_text(f, brush, s->reward);
}

/* Draws the band of the canvas that begins with row `top`. Always inlined, so that it uses the vector instructions of its
 * callers. */
__attribute__((always_inline)) static inline void car_racing_draw_band(band *b, const car_racing_figures *f,
                                                                       const car_racing_brush *brush, int32_t top) {
  const int32_t is_panel = top >= CANVAS_HEIGHT - CAR_RACING_PANEL;
  b->tables = &brush->tables;
  for (int32_t k = 0; k < BAND_HEIGHT; k++)
    row_clear(&b->rows[k], is_panel ? 0 : f->background);
  if (!is_panel) {
    b->low = CANVAS_HEIGHT - BAND_HEIGHT - top;
    b->high = CANVAS_HEIGHT - 1 - top;
    b->direction = -1;
    for (int32_t i = 0; i < f->num_quads; i++)
      gfx_quad_draw(b, &f->quads[i]);
    for (int32_t i = 0; i < f->num_marks; i++)
      line_draw_spans(&f->marks[i], 1, band_span, b);
    for (int32_t i = 0; i < f->num_car; i++)
      polygon_draw_spans(&f->car[i], b->low, b->high, band_span, b);
  }
  b->low = top;
  b->high = top + BAND_HEIGHT - 1;
  b->direction = 1;
  for (int32_t i = 0; i < f->num_indicators; i++)
    polygon_draw_spans(&f->indicators[i], b->low, b->high, band_span, b);
  car_racing_draw_text(b, f, brush);
}

/* Draws an observation into RGB pixels (OBS_SIZE, OBS_SIZE, 3). */
ENVPOOL_SIMD
static void car_racing_draw_obs(const car_racing_brush *brush, const car_racing_scene *s, uint8_t *obs) {
  car_racing_figures f;
  column_sums sums;
  band b;
  car_racing_figures_init(&f, brush, s);
  column_sums_init(&sums);
  for (int32_t top = 0; top < CANVAS_HEIGHT; top += BAND_HEIGHT) {
    car_racing_draw_band(&b, &f, brush, top);
    for (int32_t k = 0; k < BAND_HEIGHT; k++) {
      shrink_row(&brush->tables, &b.rows[k]);
      add_row(&sums, &b.rows[k], obs);
    }
  }
}

/* Draws a frame into RGB pixels (CANVAS_HEIGHT, CANVAS_WIDTH, 3). */
ENVPOOL_SIMD
static void car_racing_draw_frame(const car_racing_brush *brush, const car_racing_scene *s, uint8_t *frame) {
  car_racing_figures f;
  band b;
  car_racing_figures_init(&f, brush, s);
  for (int32_t top = 0; top < CANVAS_HEIGHT; top += BAND_HEIGHT) {
    car_racing_draw_band(&b, &f, brush, top);
    for (int32_t k = 0; k < BAND_HEIGHT; k++, frame += 3 * CANVAS_WIDTH)
      row_copy(&brush->tables, &b.rows[k], frame);
  }
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_FRAME_H */
