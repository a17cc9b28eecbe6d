/* Read before anything of Box2D: b2Assert as assert() instead of a Python exception, which pybox2d's copy raises even
 * where the GIL is not held. */
#ifndef ENVPOOL_BOX2D_ASSERTS_H
#define ENVPOOL_BOX2D_ASSERTS_H

#include <Box2D/Common/b2Settings.h>

#include <cassert>

#undef b2Assert
#define b2Assert(A) assert(A)

#endif /* ENVPOOL_BOX2D_ASSERTS_H */
