// Reading the files of the data, and stack traces, which nothing prints.
#pragma once

#include <string>
#include <vector>

std::string GetFile(const std::string& name);
void GetFiles(std::string folder, const std::string& extension, std::vector<std::string>& names);

inline void print_stacktrace() {}
