// SPDX-License-Identifier: BSL-1.0
// Loads plugin.cpp's library, calls it and unloads it, in the main thread and in one that ends, which is where a
// library that has left something to do at a thread's end would crash.
#include <dlfcn.h>

#include <iostream>
#include <thread>

int main(int, char** arguments) {
  bool right = true;
  const auto use = [&] {
    void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::cout << dlerror() << '\n';
      right = false;
      return;
    }
    right = right && reinterpret_cast<int (*)()>(dlsym(library, "plugin_rank"))() == 1;
    right = dlclose(library) == 0 && right;
  };
  use();
  std::thread(use).join();
  return right ? 0 : 1;
}
