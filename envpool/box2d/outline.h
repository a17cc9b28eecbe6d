/* Outlines of Box2D bodies, drawn as gymnasium's Box2D environments draw them. */
#ifndef ENVPOOL_BOX2D_OUTLINE_H
#define ENVPOOL_BOX2D_OUTLINE_H

#include <Box2D/Box2D.h>

#include "envpool/raster/aaline.h"
#include "envpool/raster/gfx.h"
#include "envpool/raster/line.h"
#include "envpool/raster/polygon.h"

#define OUTLINE_SCALE 30.0f /* pixels per metre */

/* The corners of a body, in pixels. */
struct Outline {
  double corners[POLYGON_VERTICES][2];
  int32 count;
};

/* Returns the outline of a body's only fixture, a polygon or an edge. Box2D computes in float32, and so does the scaling. */
static inline Outline outline_of(const b2Body *body) {
  Outline o;
  b2Vec2 at[POLYGON_VERTICES];
  const b2Shape *shape = body->GetFixtureList()->GetShape();
  if (shape->GetType() == b2Shape::e_edge) {
    const b2EdgeShape *edge = static_cast<const b2EdgeShape *>(shape);
    o.count = 2;
    at[0] = edge->m_vertex1;
    at[1] = edge->m_vertex2;
  } else {
    const b2PolygonShape *polygon = static_cast<const b2PolygonShape *>(shape);
    o.count = polygon->m_count;
    for (int32 i = 0; i < o.count; i++) at[i] = polygon->m_vertices[i];
  }
  for (int32 i = 0; i < o.count; i++) {
    const b2Vec2 place = OUTLINE_SCALE * b2Mul(body->GetTransform(), at[i]);
    o.corners[i][0] = place.x;
    o.corners[i][1] = place.y;
  }
  return o;
}

/* Draws a filled polygon with antialiased edges. */
static inline void outline_fill(const canvas *c, const double (*corners)[2], int32 count, uint32_t colour) {
  polygon_draw(c, corners, count, colour);
  gfx_draw_outline(c, corners, count, colour);
}

/* Draws an antialiased line, whose end points are rounded to float32. */
static inline void outline_line(const canvas *c, const double *from, const double *to, uint32_t colour) {
  aaline_draw(c, static_cast<float>(from[0]), static_cast<float>(from[1]), static_cast<float>(to[0]),
              static_cast<float>(to[1]), colour);
}

#endif /* ENVPOOL_BOX2D_OUTLINE_H */
