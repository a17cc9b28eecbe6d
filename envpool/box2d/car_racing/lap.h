/* The lap that a car drives: which tiles its wheels touch, and which tiles they have visited. Contacts update it. */
#ifndef ENVPOOL_BOX2D_CAR_RACING_LAP_H
#define ENVPOOL_BOX2D_CAR_RACING_LAP_H

#include <Box2D/Box2D.h>

/* The part of an env's state that contacts change. */
struct Lap {
  double reward;        /* since the episode began                                                                 */
  double lap_percent;   /* fraction of the tiles that a lap must visit                                             */
  int32 num_tiles;      /* tiles of the track                                                                      */
  int32 num_visited;    /* visited tiles                                                                           */
  bool is_lap_complete; /* whether the first tile was reached after enough tiles had been visited                  */
  uint32 road_colour;
};

/* The user data of a body that is a tile of the road or a wheel. The hull of the car has none. */
struct LapBody {
  Lap *lap;
  int32 tile;     /* number of the tile; -1 for a wheel                                                            */
  int32 on_tiles; /* of a wheel: the number of tiles that it touches                                               */
  bool is_visited;
  uint32 *colour; /* of a tile: where its colour is stored, which changes when the car touches the tile            */
};

/* Updates the lap. The listener is stateless: one object serves all worlds and threads. */
class LapListener : public b2ContactListener {
 public:
  void BeginContact(b2Contact *contact) override { update(contact, 1); }
  void EndContact(b2Contact *contact) override { update(contact, -1); }

 private:
  static void update(b2Contact *contact, int32 change) {
    LapBody *a = static_cast<LapBody *>(contact->GetFixtureA()->GetBody()->GetUserData());
    LapBody *b = static_cast<LapBody *>(contact->GetFixtureB()->GetBody()->GetUserData());
    LapBody *tile = b && b->tile >= 0 ? b : a, *wheel = tile == a ? b : a;
    if (!tile || tile->tile < 0) return;
    Lap *lap = tile->lap;
    *tile->colour = lap->road_colour;
    if (!wheel) return;
    wheel->on_tiles += change;
    if (change < 0 || tile->is_visited) return;
    tile->is_visited = true;
    lap->reward += 1000.0 / lap->num_tiles;
    lap->num_visited++;
    if (tile->tile == 0 && static_cast<double>(lap->num_visited) / lap->num_tiles > lap->lap_percent)
      lap->is_lap_complete = true;
  }
};

#endif /* ENVPOOL_BOX2D_CAR_RACING_LAP_H */
