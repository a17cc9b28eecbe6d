// Loading images, which does nothing.
#pragma once

#include "scene/object.hpp"
#include "surface.h"

namespace blunted {

class ImageLoader : public Loader<Surface> {
 public:
  void Load(std::string, boost::intrusive_ptr<Resource<Surface>>) override {}
};

class Image2D : public Object {
 public:
  explicit Image2D(std::string name) : Object(name, e_ObjectType_Image2D) {}
};

}  // namespace blunted
