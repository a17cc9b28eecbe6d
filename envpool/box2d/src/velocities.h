/* The passes over joints and contacts that determine the velocities of a step, with one world in each lane of a vector.
 *
 * Each lane performs the operations of b2RevoluteJoint and b2ContactSolver in their order, so that it has their bits.
 * Where Box2D branches, both branches are computed, and each lane selects the result of its branch. Values that do not
 * change between passes are computed once. Contacts of different bodies do not influence each other within a pass,
 * because the other side is always static. So contacts are sorted by body, and a contact whose moving side is A is stored
 * as a contact whose moving side is B, with the opposite normal.
 */
#ifndef ENVPOOL_BOX2D_VELOCITIES_H
#define ENVPOOL_BOX2D_VELOCITIES_H

#include <cstdint>

enum {
  VELOCITIES_BODIES = 5,  /* largest number of moving bodies; there is one joint fewer                              */
  VELOCITIES_CONTACTS = 8 /* largest number of contacts per body                                                    */
};

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef int32_t Mask4 __attribute__((vector_size(16)));
typedef int32_t Mask8 __attribute__((vector_size(32)));

#define LANES_INLINE inline __attribute__((always_inline))

/* Every vector has one entry per world; the entries of masks are 0 or -1. */
template <class F, class M>
struct LaneBody {
  F x, y, w; /* velocity */
};

template <class F, class M>
struct LaneJoint {
  F ax, ay, bx, by;                 /* vectors from the centres of the bodies to the anchor                         */
  F mass_a, mass_b, spin_a, spin_b; /* inverse masses and inverse moments of inertia                                */
  F motor_mass, motor_speed, motor_limit, motor_impulse;
  F impulse_x, impulse_y, impulse_z;
  F exx, exy, exz, eyx, eyy, eyz, ezx, ezy, ezz; /* columns of the matrix of point and limit                        */
  F det2, det3;                     /* 1 / determinant of the point's part, and of the whole matrix                 */
  F crossx, crossy, crossz;         /* ey x ez                                                                      */
  M is_at_limit, is_lower;
  int32_t a, b;                     /* indices of the bodies                                                        */
  bool any_at_limit, all_at_limit;
};

template <class F, class M>
struct LanePoint {
  F x, y;             /* relative to the centre of the body                                                         */
  F still_x, still_y; /* velocity of the static side: zeros, possibly negative zeros                                */
  F normal_mass, tangent_mass, bias, normal_impulse, tangent_impulse;
};

template <class F, class M>
struct LaneContact {
  LanePoint<F, M> points[2];
  F nx, ny, friction, mass, spin;
  F k11, k12, k21, k22; /* as stored: ex.x, ey.x, ex.y, ey.y */
  F i11, i12, i21, i22; /* its inverse */
  M is_here, has_two;
  bool any_two;
};

template <class F, class M>
struct Lanes {
  LaneBody<F, M> bodies[VELOCITIES_BODIES];
  LaneJoint<F, M> joints[VELOCITIES_BODIES - 1];
  LaneContact<F, M> contacts[VELOCITIES_BODIES][VELOCITIES_CONTACTS];
  int32_t num_bodies, num_joints;
  int32_t num_contacts[VELOCITIES_BODIES];
};

template <class F>
LANES_INLINE F lanes_min(const F &a, const F &b) {
  return a < b ? a : b;
}

template <class F>
LANES_INLINE F lanes_max(const F &a, const F &b) {
  return a > b ? a : b;
}

template <class F, class M>
LANES_INLINE void lanes_solve(LaneJoint<F, M> &j, LaneBody<F, M> *bodies) {
  LaneBody<F, M> a = bodies[j.a], b = bodies[j.b];
  {
    const F off = b.w - a.w - j.motor_speed;
    const F wanted = lanes_max<F>(-j.motor_limit, lanes_min<F>(j.motor_impulse + -j.motor_mass * off, j.motor_limit));
    const F impulse = wanted - j.motor_impulse;
    j.motor_impulse = wanted;
    a.w -= j.spin_a * impulse;
    b.w += j.spin_b * impulse;
  }
  const F apart_x = b.x + -b.w * j.by - a.x - -a.w * j.ay;
  const F apart_y = b.y + b.w * j.bx - a.y - a.w * j.ax;
  F px, py, pz;
  if (!j.all_at_limit) {
    px = j.det2 * (j.eyy * -apart_x - j.eyx * -apart_y);
    py = j.det2 * (j.exx * -apart_y - j.exy * -apart_x);
    pz = F{};
  }
  if (j.any_at_limit) {
    const F apart_w = b.w - a.w;
    const F lx = -(j.det3 * (apart_x * j.crossx + apart_y * j.crossy + apart_w * j.crossz));
    const F ly = -(j.det3 * (j.exx * (apart_y * j.ezz - apart_w * j.ezy) + j.exy * (apart_w * j.ezx - apart_x * j.ezz) +
                             j.exz * (apart_x * j.ezy - apart_y * j.ezx)));
    const F lz = -(j.det3 * (j.exx * (j.eyy * apart_w - j.eyz * apart_y) + j.exy * (j.eyz * apart_x - j.eyx * apart_w) +
                             j.exz * (j.eyx * apart_y - j.eyy * apart_x)));
    const F total = j.impulse_z + lz;
    const M lets_go = j.is_lower ? total < 0.0f : total > 0.0f; /* the limit would pull: only the point counts */
    const F right_x = -apart_x + j.impulse_z * j.ezx, right_y = -apart_y + j.impulse_z * j.ezy;
    const F limit_x = lets_go ? j.det2 * (j.eyy * right_x - j.eyx * right_y) : lx;
    const F limit_y = lets_go ? j.det2 * (j.exx * right_y - j.exy * right_x) : ly;
    const F limit_z = lets_go ? -j.impulse_z : lz;
    const F kept = lets_go ? F{} : total;
    if (j.all_at_limit) {
      px = limit_x;
      py = limit_y;
      pz = limit_z;
      j.impulse_z = kept;
    } else {
      px = j.is_at_limit ? limit_x : px;
      py = j.is_at_limit ? limit_y : py;
      pz = j.is_at_limit ? limit_z : pz;
      j.impulse_z = j.is_at_limit ? kept : j.impulse_z;
    }
  }
  j.impulse_x += px;
  j.impulse_y += py;
  F turn_a = j.ax * py - j.ay * px, turn_b = j.bx * py - j.by * px;
  if (j.all_at_limit) {
    turn_a += pz;
    turn_b += pz;
  } else if (j.any_at_limit) { /* adding a zero could change the sign of a zero */
    turn_a = j.is_at_limit ? turn_a + pz : turn_a;
    turn_b = j.is_at_limit ? turn_b + pz : turn_b;
  }
  a.x -= j.mass_a * px;
  a.y -= j.mass_a * py;
  a.w -= j.spin_a * turn_a;
  b.x += j.mass_b * px;
  b.y += j.mass_b * py;
  b.w += j.spin_b * turn_b;
  bodies[j.a] = a;
  bodies[j.b] = b;
}

template <class F, class M>
LANES_INLINE void lanes_rub(LanePoint<F, M> &p, const LaneContact<F, M> &c, const M &is_here, LaneBody<F, M> &b) {
  const F slip_x = b.x + -b.w * p.y - p.still_x, slip_y = b.y + b.w * p.x - p.still_y;
  const F tx = c.ny, ty = -c.nx;
  const F speed = slip_x * tx + slip_y * ty;
  const F limit = c.friction * p.normal_impulse;
  const F wanted = lanes_max<F>(-limit, lanes_min<F>(p.tangent_impulse + p.tangent_mass * -speed, limit));
  const F impulse = wanted - p.tangent_impulse;
  const F px = impulse * tx, py = impulse * ty;
  p.tangent_impulse = is_here ? wanted : p.tangent_impulse;
  b.x = is_here ? b.x + c.mass * px : b.x;
  b.y = is_here ? b.y + c.mass * py : b.y;
  b.w = is_here ? b.w + c.spin * (p.x * py - p.y * px) : b.w;
}

template <class F, class M>
LANES_INLINE F lanes_approach(const LanePoint<F, M> &p, const LaneContact<F, M> &c, const LaneBody<F, M> &b) {
  const F x = b.x + -b.w * p.y - p.still_x, y = b.y + b.w * p.x - p.still_y;
  return x * c.nx + y * c.ny;
}

template <class F, class M>
LANES_INLINE void lanes_solve(LaneContact<F, M> &c, LaneBody<F, M> &body) {
  LaneBody<F, M> b = body;
  LanePoint<F, M> &p = c.points[0], &q = c.points[1];
  lanes_rub<F, M>(p, c, c.is_here, b);
  if (c.any_two) lanes_rub<F, M>(q, c, c.has_two, b);

  const F speed = lanes_approach<F, M>(p, c, b) - p.bias;
  const F one = lanes_max<F>(p.normal_impulse + -p.normal_mass * speed, F{});
  const F change = one - p.normal_impulse;
  F px = change * c.nx, py = change * c.ny;
  F turn = p.x * py - p.y * px;
  F total_p = one;
  M changes = c.is_here;
  if (c.any_two) {
    const F ax = p.normal_impulse, ay = q.normal_impulse;
    const F bx = speed - (c.k11 * ax + c.k12 * ay);
    const F by = lanes_approach<F, M>(q, c, b) - q.bias - (c.k21 * ax + c.k22 * ay);
    const F both_x = -(c.i11 * bx + c.i12 * by), both_y = -(c.i21 * bx + c.i22 * by);
    const F only_x = -p.normal_mass * bx, only_y = -q.normal_mass * by;
    const M is_both = (both_x >= 0.0f) & (both_y >= 0.0f);
    const M is_first = (only_x >= 0.0f) & (c.k21 * only_x + by >= 0.0f);
    const M is_second = (only_y >= 0.0f) & (c.k12 * only_y + bx >= 0.0f);
    const M is_none = (bx >= 0.0f) & (by >= 0.0f);
    const F x = is_both ? both_x : (is_first ? only_x : F{});
    const F y = is_both ? both_y : ((is_second & ~is_first) ? only_y : F{});
    const F dx = x - ax, dy = y - ay;
    const F p1x = dx * c.nx, p1y = dx * c.ny, p2x = dy * c.nx, p2y = dy * c.ny;
    px = c.has_two ? p1x + p2x : px;
    py = c.has_two ? p1y + p2y : py;
    turn = c.has_two ? (p.x * p1y - p.y * p1x) + (q.x * p2y - q.y * p2x) : turn;
    const M is_solved = is_both | is_first | is_second | is_none; /* otherwise the impulses do not change */
    changes = changes & (is_solved | ~c.has_two);
    total_p = c.has_two ? x : one;
    q.normal_impulse = (c.has_two & is_solved) ? y : q.normal_impulse;
  }
  p.normal_impulse = changes ? total_p : p.normal_impulse;
  body.x = changes ? b.x + c.mass * px : b.x;
  body.y = changes ? b.y + c.mass * py : b.y;
  body.w = changes ? b.w + c.spin * turn : b.w;
}

template <class F, class M>
LANES_INLINE void lanes_solve(Lanes<F, M> &l, int passes) {
  for (int pass = 0; pass < passes; pass++) {
    for (int32_t i = 0; i < l.num_joints; i++) lanes_solve<F, M>(l.joints[i], l.bodies);
    for (int32_t i = 0; i < l.num_bodies; i++)
      for (int32_t k = 0; k < l.num_contacts[i]; k++) lanes_solve<F, M>(l.contacts[i][k], l.bodies[i]);
  }
}

#endif /* ENVPOOL_BOX2D_VELOCITIES_H */
