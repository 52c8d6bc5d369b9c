#include "node/device/opencl_api.h"

#include "node/device/library.h"

namespace ostraka::device::opencl {

base::StatusOr<Api> LoadApi(const std::string& library) {
  ASSIGN_OR_RETURN(void* const handle, LoadLibrary(library));
  Api api;
#define OSTRAKA_FIND(name) RETURN_IF_ERROR(FindFunction(handle, #name, api.name))
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
