/* Saving a world, and restoring it into a world with the same bodies. */
#ifndef ENVPOOL_BOX2D_WORLD_IMAGE_H
#define ENVPOOL_BOX2D_WORLD_IMAGE_H

#include <Box2D/Box2D.h>

#include "archive.h"

/* The parts of a world that steps change, in a form without addresses: the poses, velocities, forces and sleep of the
 * bodies, the impulses and limits of the joints, the contacts with their manifolds in the order of the solver, and the
 * tree of the broad phase node by node, since the order in which contacts begin depends on it.
 *
 * Everything else is what the environment created: bodies, fixtures, shapes and joints. Loading needs a world in which
 * the environment has created them again, in the same order, and which has not been stepped. Its fixtures must have
 * shapes with one child, and its joints must be revolute joints. If the archive turns out to be invalid, the world may
 * only be destroyed or restarted afterwards. */
class WorldImage {
 public:
  static void transfer(b2World *world, Archive *a);

 private:
  /* Far beyond what happens, and small enough that steps neither overflow nor lose all precision: Box2D aborts when a
   * ray has no length. */
  static constexpr float32 LIMIT = 1e6f;

  explicit WorldImage(b2World *world, Archive *a) : world_(world), a_(a), fixtures_(NULL), leaves_(NULL) {}
  ~WorldImage();

  bool list_fixtures();
  void number(float32 *value, float32 limit = LIMIT) { a_->numbers(value, 1, limit); }
  void vector(b2Vec2 *value) { number(&value->x), number(&value->y); }
  void transfer_bodies();
  void transfer_body(b2Body *body);
  void transfer_tree();
  void save_nodes();
  b2TreeNode *load_nodes(int32 capacity, int32 root, int32 free_list, int32 count);
  bool load_node(b2TreeNode *nodes, int32 capacity, int32 at);
  bool is_free_list(const b2TreeNode *nodes, int32 capacity, int32 first, int32 count) const;
  bool finish_nodes(b2TreeNode *nodes, int32 root, int32 count) const;
  void transfer_moves();
  void transfer_joints();
  void transfer_contacts();
  b2Contact *add_contact(b2Fixture *first, b2Fixture *second);
  void transfer_manifold(b2Manifold *m);

  b2DynamicTree *tree() { return &world_->m_contactManager.m_broadPhase.m_tree; }

  b2World *world_;
  Archive *a_;
  int32 num_fixtures_;
  b2Fixture **fixtures_; /* (num_fixtures_), in the order of the bodies' list                                      */
  int32 *leaves_;        /* (num_fixtures_) node of each fixture                                                    */
};

#endif /* ENVPOOL_BOX2D_WORLD_IMAGE_H */
