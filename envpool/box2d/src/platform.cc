/* Box2D's platform functions. Its profile is not used, so nothing reads the clock; nothing is printed. */
#include <Box2D/Common/b2Settings.h>
#include <Box2D/Common/b2Timer.h>

#include <cstdlib>

void *b2Alloc(int32 size) { return std::malloc(static_cast<size_t>(size)); }
void b2Free(void *memory) { std::free(memory); }
void b2Log(const char *, ...) {}

b2Timer::b2Timer() {}
void b2Timer::Reset() {}
float32 b2Timer::GetMilliseconds() const { return 0.0f; }
