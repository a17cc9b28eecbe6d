/* Included before all headers of Box2D: turns b2Assert into assert(). In pybox2d's copy it raises a Python exception,
 * even if the GIL is not held. */
#ifndef ENVPOOL_BOX2D_ASSERTS_H
#define ENVPOOL_BOX2D_ASSERTS_H

#include <Box2D/Common/b2Settings.h>

#include <cassert>

#undef b2Assert
#define b2Assert(A) assert(A)

#endif /* ENVPOOL_BOX2D_ASSERTS_H */
