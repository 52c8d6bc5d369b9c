#include "node/device/opencl_api.h"

#include <dlfcn.h>

#include <initializer_list>

namespace ostraka::device::opencl {
namespace {

std::string LoaderError() {
  const char* const error = dlerror();
  return error == nullptr ? "the loader gives no reason" : error;
}

template <typename F>
base::Status Find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (function != nullptr) return base::OkStatus();
  return base::Unavailable(std::string("no OpenCL 1.2: ") + LoaderError());
}

}  // namespace

base::StatusOr<Api> LoadApi(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return base::Unavailable("no OpenCL: " + LoaderError());
  Api api;
#define OSTRAKA_FIND(name) RETURN_IF_ERROR(Find(handle, #name, api.name))
  OSTRAKA_FIND(clGetPlatformIDs);
  OSTRAKA_FIND(clGetPlatformInfo);
  OSTRAKA_FIND(clGetDeviceIDs);
  OSTRAKA_FIND(clGetDeviceInfo);
  OSTRAKA_FIND(clCreateContext);
  OSTRAKA_FIND(clReleaseContext);
  OSTRAKA_FIND(clCreateCommandQueue);
  OSTRAKA_FIND(clReleaseCommandQueue);
  OSTRAKA_FIND(clCreateProgramWithSource);
  OSTRAKA_FIND(clBuildProgram);
  OSTRAKA_FIND(clGetProgramBuildInfo);
  OSTRAKA_FIND(clReleaseProgram);
  OSTRAKA_FIND(clCreateKernel);
  OSTRAKA_FIND(clReleaseKernel);
  OSTRAKA_FIND(clSetKernelArg);
  OSTRAKA_FIND(clCreateBuffer);
  OSTRAKA_FIND(clReleaseMemObject);
  OSTRAKA_FIND(clEnqueueWriteBuffer);
  OSTRAKA_FIND(clEnqueueReadBuffer);
  OSTRAKA_FIND(clEnqueueNDRangeKernel);
  OSTRAKA_FIND(clFinish);
#undef OSTRAKA_FIND
  return api;
}

}  // namespace ostraka::device::opencl
