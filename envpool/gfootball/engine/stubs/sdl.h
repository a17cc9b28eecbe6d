// Names of SDL and of its libraries that declarations mention. Surfaces have no pixels, since nothing is drawn.
#pragma once

struct SDL_Surface;
struct TTF_Font;
