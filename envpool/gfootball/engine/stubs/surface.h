// Textures, which have no pixels.
#pragma once

#include "sdl.h"
#include "types/loader.hpp"
#include "types/resource.hpp"

namespace blunted {

class Surface {
 public:
  SDL_Surface* GetData() { return nullptr; }
  void SetData(SDL_Surface*) {}
};

}  // namespace blunted
