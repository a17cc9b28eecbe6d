/* What contacts tell CarRacing: which tiles the wheels are on, and which were visited. */
#ifndef ENVPOOL_BOX2D_RACE_H
#define ENVPOOL_BOX2D_RACE_H

#include <Box2D/Box2D.h>

/* The part of an env's state that contacts change. */
struct Race {
  double reward;        /* since the episode began                                                                 */
  double lap_percent;   /* of the tiles, which have to be visited for a lap                                        */
  int32 num_tiles;      /* of the track                                                                            */
  int32 num_visited;    /* of them                                                                                 */
  bool is_lap_complete; /* the first tile was reached when enough were visited                                     */
  uint32 road_colour;
};

/* What the user data of a body points to: a tile of the road or a wheel. The hull has none. */
struct RacePart {
  Race *race;
  int32 tile;     /* its number, -1 for a wheel                                                                    */
  int32 on_tiles; /* wheel: how many it touches                                                                    */
  bool is_visited;
  uint32 *colour; /* tile: where its colour is kept; it changes when the car touches it                            */
};

/* It has no state, so one serves all worlds and threads. */
class RaceListener : public b2ContactListener {
 public:
  void BeginContact(b2Contact *contact) override { set(contact, 1); }
  void EndContact(b2Contact *contact) override { set(contact, -1); }

 private:
  static void set(b2Contact *contact, int32 change) {
    RacePart *a = static_cast<RacePart *>(contact->GetFixtureA()->GetBody()->GetUserData());
    RacePart *b = static_cast<RacePart *>(contact->GetFixtureB()->GetBody()->GetUserData());
    RacePart *tile = b && b->tile >= 0 ? b : a, *wheel = tile == a ? b : a;
    if (!tile || tile->tile < 0) return;
    Race *race = tile->race;
    *tile->colour = race->road_colour;
    if (!wheel) return;
    wheel->on_tiles += change;
    if (change < 0 || tile->is_visited) return;
    tile->is_visited = true;
    race->reward += 1000.0 / race->num_tiles;
    race->num_visited++;
    if (tile->tile == 0 && static_cast<double>(race->num_visited) / race->num_tiles > race->lap_percent)
      race->is_lap_complete = true;
  }
};

#endif /* ENVPOOL_BOX2D_RACE_H */
