#include "world_image.h"

#include <Box2D/Dynamics/Contacts/b2Contact.h>

namespace {

/* How a node is written: two numbers, of which the first tells its kind. An inner node is written as its children. */
const int16_t LEAF = -1; /* and the number of the fixture */
const int16_t FREE = -2; /* and the next free node        */
const int32 MAX_NODES = 1 << 14;

/* Flags that are set and cleared within a step. */
const uint32 BODY_SCRATCH = 0x0001 | 0x0040; /* island, time of impact */
const uint32 BODY_AWAKE = 0x0002;
const uint32 CONTACT_KEPT = 0x0002 | 0x0004; /* touching, enabled */
const uint32 WORLD_KEPT = 0x0001 | 0x0004;   /* new fixture, clear forces */

}  // namespace

WorldImage::~WorldImage() {
  if (fixtures_) b2Free(fixtures_);
  if (leaves_) b2Free(leaves_);
}

void WorldImage::transfer(b2World *world, Archive *a) {
  WorldImage image(world, a);
  int32 flags = world->m_flags & WORLD_KEPT;
  if (!image.list_fixtures()) {
    a->require(false);
    return;
  }
  a->integer(&flags, 0, WORLD_KEPT);
  a->require((flags & ~WORLD_KEPT) == 0);
  a->numbers(&world->m_inv_dt0);
  image.transfer_bodies();
  image.transfer_tree();
  image.transfer_moves();
  image.transfer_joints();
  image.transfer_contacts();
  if (a->is_loading) world->m_flags = flags;
}

/* Numbers the fixtures, and checks that the archive is of a world with as many bodies, fixtures and joints. */
bool WorldImage::list_fixtures() {
  int32 counts[3] = {world_->m_bodyCount, 0, world_->m_jointCount}, given[3];
  for (b2Body *b = world_->m_bodyList; b; b = b->m_next) counts[1] += b->m_fixtureCount;
  memcpy(given, counts, sizeof(given));
  a_->bytes(given, sizeof(given));
  if (!a_->is_valid || memcmp(given, counts, sizeof(given)) || 2 * counts[1] > MAX_NODES) return false;
  num_fixtures_ = counts[1];
  fixtures_ = static_cast<b2Fixture **>(b2Alloc((num_fixtures_ + 1) * sizeof(b2Fixture *)));
  leaves_ = static_cast<int32 *>(b2Alloc((num_fixtures_ + 1) * sizeof(int32)));
  if (!fixtures_ || !leaves_) return false;
  int32 n = 0;
  for (b2Body *b = world_->m_bodyList; b; b = b->m_next)
    for (b2Fixture *f = b->m_fixtureList; f; f = f->m_next) {
      if (f->m_proxyCount != 1) return false;
      fixtures_[n] = f;
      leaves_[n++] = f->m_proxies[0].proxyId;
    }
  return n == num_fixtures_;
}

/* ---- bodies and joints ---- */

void WorldImage::transfer_body(b2Body *b) {
  uint16 flags = b->m_flags & ~BODY_SCRATCH;
  a_->bytes(&flags, sizeof(flags));
  a_->require(((flags ^ b->m_flags) & ~(BODY_SCRATCH | BODY_AWAKE)) == 0);
  if (a_->is_loading && a_->is_valid) b->m_flags = flags;
  if (b->m_type == b2_staticBody) return;
  b2Sweep *s = &b->m_sweep;
  number(&b->m_sleepTime);
  vector(&b->m_xf.p), number(&b->m_xf.q.s, 1.0f), number(&b->m_xf.q.c, 1.0f);
  vector(&s->c0), vector(&s->c), number(&s->a0), number(&s->a), number(&s->alpha0);
  a_->require(s->alpha0 >= 0.0f && s->alpha0 < 1.0f);
  vector(&b->m_linearVelocity), number(&b->m_angularVelocity);
  vector(&b->m_force), number(&b->m_torque);
}

void WorldImage::transfer_bodies() {
  for (b2Body *b = world_->m_bodyList; b; b = b->m_next) transfer_body(b);
}

void WorldImage::transfer_joints() {
  for (b2Joint *any = world_->m_jointList; any; any = any->m_next) {
    a_->require(any->m_type == e_revoluteJoint);
    if (!a_->is_valid) return;
    b2RevoluteJoint *j = static_cast<b2RevoluteJoint *>(any);
    int32 limit = j->m_limitState;
    number(&j->m_impulse.x), number(&j->m_impulse.y), number(&j->m_impulse.z);
    number(&j->m_motorImpulse), number(&j->m_motorSpeed), number(&j->m_maxMotorTorque);
    a_->integer(&limit, e_inactiveLimit, e_equalLimits);
    if (a_->is_loading) j->m_limitState = static_cast<b2LimitState>(limit);
  }
}

/* ---- the tree of the broad phase: boxes of inner nodes, heights and parents follow from the rest ---- */

void WorldImage::save_nodes() {
  b2DynamicTree *t = tree();
  int16_t *number = static_cast<int16_t *>(b2Alloc(t->m_nodeCapacity * sizeof(int16_t)));
  a_->require(number != NULL && t->m_nodeCapacity <= MAX_NODES);
  if (!a_->is_valid) {
    if (number) b2Free(number);
    return;
  }
  for (int32 i = 0; i < num_fixtures_; i++) number[leaves_[i]] = static_cast<int16_t>(i);
  for (int32 i = 0; i < t->m_nodeCapacity; i++) {
    const b2TreeNode *node = &t->m_nodes[i];
    int16_t pair[2] = {static_cast<int16_t>(node->child1), static_cast<int16_t>(node->child2)};
    if (node->height < 0)
      pair[0] = FREE, pair[1] = static_cast<int16_t>(node->next);
    else if (node->IsLeaf())
      pair[0] = LEAF, pair[1] = number[i];
    a_->bytes(pair, sizeof(pair));
  }
  b2Free(number);
}

/* Reads one node. Parents are b2_nullNode until a child is found. */
bool WorldImage::load_node(b2TreeNode *nodes, int32 capacity, int32 at) {
  int16_t pair[2];
  b2TreeNode *node = &nodes[at];
  a_->bytes(pair, sizeof(pair));
  if (!a_->is_valid) return false;
  if (pair[0] == FREE) {
    node->height = -1;
    node->next = pair[1];
    return pair[1] >= -1 && pair[1] < capacity;
  }
  if (pair[0] == LEAF) {
    const int32 k = pair[1];
    if (k < 0 || k >= num_fixtures_ || leaves_[k] != b2_nullNode) return false;
    leaves_[k] = at;
    node->child1 = node->child2 = b2_nullNode;
    node->userData = fixtures_[k]->m_proxies;
    node->height = 0;
    node->aabb = tree()->m_nodes[fixtures_[k]->m_proxies[0].proxyId].aabb; /* what transfer_tree() has read */
    return true;
  }
  for (int32 k = 0; k < 2; k++)
    if (pair[k] < 0 || pair[k] >= capacity) return false;
  node->child1 = pair[0];
  node->child2 = pair[1];
  node->height = 1;
  return true;
}

bool WorldImage::is_free_list(const b2TreeNode *nodes, int32 capacity, int32 first, int32 count) const {
  for (; first != b2_nullNode; first = nodes[first].next)
    if (first < 0 || first >= capacity || nodes[first].height != -1 || --count < 0) return false;
  return count == 0;
}

/* Sets parents, and from the leaves upwards heights and boxes. Returns whether the nodes are one tree. */
bool WorldImage::finish_nodes(b2TreeNode *nodes, int32 root, int32 count) const {
  if (num_fixtures_ == 0) return root == b2_nullNode && count == 0;
  if (count != 2 * num_fixtures_ - 1 || root < 0) return false;
  int32 *order = static_cast<int32 *>(b2Alloc(count * sizeof(int32)));
  if (!order) return false;
  int32 n = 1;
  bool is_tree = nodes[root].height >= 0;
  order[0] = root;
  for (int32 i = 0; is_tree && i < n; i++) {
    const b2TreeNode *node = &nodes[order[i]];
    if (node->IsLeaf()) continue;
    for (int32 child : {node->child1, node->child2}) {
      is_tree = is_tree && n < count && child != root && nodes[child].height >= 0 && nodes[child].parent == b2_nullNode;
      if (!is_tree) break;
      nodes[child].parent = order[i];
      order[n++] = child;
    }
  }
  is_tree = is_tree && n == count;
  for (int32 i = n - 1; is_tree && i >= 0; i--) {
    b2TreeNode *node = &nodes[order[i]];
    if (node->IsLeaf()) continue;
    node->height = 1 + b2Max(nodes[node->child1].height, nodes[node->child2].height);
    node->aabb.Combine(nodes[node->child1].aabb, nodes[node->child2].aabb);
  }
  b2Free(order);
  return is_tree;
}

/* Returns the nodes, or NULL if they are invalid. */
b2TreeNode *WorldImage::load_nodes(int32 capacity, int32 root, int32 free_list, int32 count) {
  b2TreeNode *nodes = static_cast<b2TreeNode *>(b2Alloc(capacity * sizeof(b2TreeNode)));
  if (!nodes) return NULL;
  memset(nodes, 0, capacity * sizeof(b2TreeNode));
  for (int32 i = 0; i < num_fixtures_; i++) leaves_[i] = b2_nullNode;
  bool is_valid = true;
  for (int32 i = 0; is_valid && i < capacity; i++) {
    nodes[i].parent = b2_nullNode;
    is_valid = load_node(nodes, capacity, i);
  }
  for (int32 i = 0; is_valid && i < num_fixtures_; i++) is_valid = leaves_[i] != b2_nullNode;
  if (is_valid && is_free_list(nodes, capacity, free_list, capacity - count) && finish_nodes(nodes, root, count))
    return nodes;
  b2Free(nodes);
  return NULL;
}

void WorldImage::transfer_tree() {
  b2DynamicTree *t = tree();
  int32 capacity = t->m_nodeCapacity, root = t->m_root, free_list = t->m_freeList, count = t->m_nodeCount;
  for (int32 i = 0; i < num_fixtures_; i++) /* static fixtures have the boxes with which they were created */
    if (fixtures_[i]->m_body->m_type != b2_staticBody) {
      b2AABB *box = &t->m_nodes[leaves_[i]].aabb;
      vector(&box->lowerBound), vector(&box->upperBound);
    }
  a_->integer(&capacity, 1, MAX_NODES);
  a_->integer(&root, -1, capacity - 1);
  a_->integer(&free_list, -1, capacity - 1);
  a_->integer(&count, 0, capacity);
  if (!a_->is_valid) return;
  if (!a_->is_loading) return save_nodes();
  b2TreeNode *nodes = load_nodes(capacity, root, free_list, count);
  a_->require(nodes != NULL);
  if (!nodes) return;
  b2Free(t->m_nodes);
  t->m_nodes = nodes;
  t->m_nodeCapacity = capacity;
  t->m_nodeCount = count;
  t->m_root = root;
  t->m_freeList = free_list;
  for (int32 i = 0; i < num_fixtures_; i++) fixtures_[i]->m_proxies[0].proxyId = leaves_[i];
}

/* Transfers the proxies that have moved since the last search for pairs: after a step, there are none. */
void WorldImage::transfer_moves() {
  b2BroadPhase *phase = &world_->m_contactManager.m_broadPhase;
  int32 count = phase->m_moveCount;
  a_->integer(&count, 0, MAX_NODES);
  if (a_->is_loading) phase->m_moveCount = 0;
  for (int32 i = 0; i < count && a_->is_valid; i++) {
    int32 id = a_->is_loading ? 0 : phase->m_moveBuffer[i];
    a_->integer(&id, b2BroadPhase::e_nullProxy, phase->m_tree.m_nodeCapacity - 1);
    a_->require(id == b2BroadPhase::e_nullProxy || phase->m_tree.m_nodes[id].height == 0);
    if (a_->is_loading && a_->is_valid) phase->BufferMove(id);
  }
}

/* ---- contacts ---- */

/* Creates a contact as b2ContactManager::AddPair() does, at the head of all lists; returns NULL if Box2D would not. */
b2Contact *WorldImage::add_contact(b2Fixture *first, b2Fixture *second) {
  b2ContactManager *m = &world_->m_contactManager;
  b2Body *a = first->m_body, *b = second->m_body;
  if (a == b || !b->ShouldCollide(a) || !m->m_contactFilter->ShouldCollide(first, second)) return NULL;
  b2Contact *c = b2Contact::Create(first, 0, second, 0, m->m_allocator);
  if (!c) return NULL;
  if (c->m_fixtureA != first) { /* Box2D prefers the other order, and so does every contact that has been saved */
    b2Contact::Destroy(c, m->m_allocator);
    return NULL;
  }
  c->m_next = m->m_contactList;
  if (c->m_next) c->m_next->m_prev = c;
  m->m_contactList = c;
  m->m_contactCount++;
  for (b2Body *body : {a, b}) {
    b2ContactEdge *edge = body == a ? &c->m_nodeA : &c->m_nodeB;
    edge->contact = c;
    edge->other = body == a ? b : a;
    edge->prev = NULL;
    edge->next = body->m_contactList;
    if (edge->next) edge->next->prev = edge;
    body->m_contactList = edge;
  }
  return c;
}

void WorldImage::transfer_manifold(b2Manifold *m) {
  a_->integer(&m->pointCount, 0, b2_maxManifoldPoints);
  if (m->pointCount == 0) return; /* then nothing else has been set */
  int32 type = a_->is_loading ? 0 : m->type;
  a_->integer(&type, b2Manifold::e_circles, b2Manifold::e_faceB);
  if (a_->is_loading) m->type = static_cast<b2Manifold::Type>(type);
  vector(&m->localNormal), vector(&m->localPoint);
  for (int32 i = 0; i < m->pointCount; i++) {
    b2ManifoldPoint *p = &m->points[i];
    vector(&p->localPoint), number(&p->normalImpulse), number(&p->tangentImpulse);
    a_->bytes(&p->id.key, sizeof(p->id.key));
  }
}

/* Contacts are written from the last to the first, so that inserting each of them at the head restores all lists. */
void WorldImage::transfer_contacts() {
  int32 count = world_->m_contactManager.m_contactCount;
  b2Contact *c = world_->m_contactManager.m_contactList;
  while (!a_->is_loading && c && c->m_next) c = c->m_next;
  a_->integer(&count, 0, 1 << 20);
  int16_t *number = NULL;
  if (!a_->is_loading) {
    number = static_cast<int16_t *>(b2Alloc(tree()->m_nodeCapacity * sizeof(int16_t)));
    a_->require(number != NULL);
    for (int32 i = 0; number && i < num_fixtures_; i++) number[leaves_[i]] = static_cast<int16_t>(i);
  }
  for (int32 i = 0; i < count && a_->is_valid; i++) {
    int16_t pair[2] = {0, 0};
    if (!a_->is_loading) {
      pair[0] = number[c->m_fixtureA->m_proxies[0].proxyId];
      pair[1] = number[c->m_fixtureB->m_proxies[0].proxyId];
    }
    a_->integer(&pair[0], 0, num_fixtures_ - 1);
    a_->integer(&pair[1], 0, num_fixtures_ - 1);
    if (!a_->is_valid) break;
    if (a_->is_loading) c = add_contact(fixtures_[pair[0]], fixtures_[pair[1]]);
    a_->require(c != NULL);
    if (!c) break;
    uint32 flags = c->m_flags & CONTACT_KEPT;
    a_->integer(&flags, 0, CONTACT_KEPT);
    a_->require((flags & ~CONTACT_KEPT) == 0);
    transfer_manifold(&c->m_manifold);
    const bool is_sensor = c->m_fixtureA->m_isSensor || c->m_fixtureB->m_isSensor;
    const bool is_touching = flags & b2Contact::e_touchingFlag;
    a_->require(is_sensor ? c->m_manifold.pointCount == 0 : is_touching == (c->m_manifold.pointCount > 0));
    if (a_->is_loading) {
      c->m_flags = flags;
      c->m_toi = 1.0f;
    } else {
      c = c->m_prev;
    }
  }
  if (number) b2Free(number);
}
