#include "node/device/cuda_api.h"

#include "node/device/library.h"

namespace ostraka::device::cuda {

base::StatusOr<Api> LoadApi(const std::string& library) {
  ASSIGN_OR_RETURN(void* const handle, LoadLibrary(library));
  Api api;
#define OSTRAKA_FIND(name) RETURN_IF_ERROR(FindFunction(handle, #name, api.name))
  OSTRAKA_FIND(cuInit);
  OSTRAKA_FIND(cuDriverGetVersion);
  OSTRAKA_FIND(cuDeviceGetCount);
  OSTRAKA_FIND(cuDeviceGet);
  OSTRAKA_FIND(cuDeviceGetName);
  OSTRAKA_FIND(cuDeviceGetAttribute);
  OSTRAKA_FIND(cuDeviceTotalMem_v2);
  OSTRAKA_FIND(cuDevicePrimaryCtxRetain);
  OSTRAKA_FIND(cuDevicePrimaryCtxRelease_v2);
  OSTRAKA_FIND(cuCtxSetCurrent);
  OSTRAKA_FIND(cuCtxSynchronize);
  OSTRAKA_FIND(cuModuleLoadDataEx);
  OSTRAKA_FIND(cuModuleUnload);
  OSTRAKA_FIND(cuModuleGetFunction);
  OSTRAKA_FIND(cuMemAlloc_v2);
  OSTRAKA_FIND(cuMemFree_v2);
  OSTRAKA_FIND(cuMemcpyHtoD_v2);
  OSTRAKA_FIND(cuMemcpyDtoH_v2);
  OSTRAKA_FIND(cuLaunchKernel);
#undef OSTRAKA_FIND
  const Code code = api.cuInit(0);
  if (code == kSuccess) return api;
  return base::Unavailable("the driver of CUDA does not start: error " + std::to_string(code));
}

}  // namespace ostraka::device::cuda
