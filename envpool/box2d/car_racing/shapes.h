/* Shared by the physics and the frames of CarRacing: sizes, and the outlines of the car. */
#ifndef ENVPOOL_BOX2D_CAR_RACING_SHAPES_H
#define ENVPOOL_BOX2D_CAR_RACING_SHAPES_H

#include <stdint.h>

#define CAR_RACING_SCALE 6.0

/* Outlines are in units of the parameter `size`. Their vertices have the order into which Box2D brings them, on which the
 * pixels of a polygon depend. */
#define CAR_RACING_WHEEL_RADIUS 27.0
#define CAR_RACING_WHEEL_WIDTH 14.0 /* half the width of a wheel */
#define CAR_RACING_HULL_PARTS 4

typedef struct car_racing_part {
  int32_t count;
  double vertices[8][2]; /* (count, 2) */
} car_racing_part;

static const car_racing_part CAR_RACING_HULL[CAR_RACING_HULL_PARTS] = {
    {4, {{60, 110}, {60, 130}, {-60, 130}, {-60, 110}}},
    {4, {{20, 20}, {15, 120}, {-15, 120}, {-20, 20}}},
    {8, {{50, -40}, {50, -10}, {25, 20}, {-25, 20}, {-50, -10}, {-50, -40}, {-20, -90}, {20, -90}}},
    {4, {{50, -120}, {50, -90}, {-50, -90}, {-50, -120}}},
};

static const car_racing_part CAR_RACING_WHEEL = {
    4,
    {{CAR_RACING_WHEEL_WIDTH, -CAR_RACING_WHEEL_RADIUS},
     {CAR_RACING_WHEEL_WIDTH, CAR_RACING_WHEEL_RADIUS},
     {-CAR_RACING_WHEEL_WIDTH, CAR_RACING_WHEEL_RADIUS},
     {-CAR_RACING_WHEEL_WIDTH, -CAR_RACING_WHEEL_RADIUS}},
};

#endif /* ENVPOOL_BOX2D_CAR_RACING_SHAPES_H */
