#!/bin/bash
# Makes build/gpu on a machine without a GPU: all that run.sh needs there, where no compiler is.
#   tests/gpu/build.sh
# It needs what `make dist` needs, dpkg, and pip for NVIDIA's assembler (else no machine code: the driver translates PTX).
set -euo pipefail
cd "$(dirname "$0")/../.."
into=build/gpu
mkdir -p $into
cmake --preset dist --log-level=WARNING
cmake --build --preset dist -j "${JOBS:-$(nproc)}" --target ostraka device_measure
for program in ostraka tests/gpu/device_measure; do
  strip -o "$into/$(basename $program)" build/dist-build/$program
done
cp node/device/kernels.ptx tests/gpu/run.sh tests/gpu/table.py tests/gpu/torch_compare.py $into

# A driver may come without the loader that finds it.
(cd $into && { apt-get download ocl-icd-libopencl1 > /dev/null && dpkg -x ocl-icd-libopencl1_*.deb loader &&
  cp -L loader/usr/lib/*/libOpenCL.so.1 . && rm -rf loader ocl-icd-libopencl1_*.deb; } ||
  echo "build.sh: no OpenCL loader; run.sh then needs one there")

tools=build/gpu-tools
if [ ! -x $tools/bin/python ]; then python3 -m venv $tools; fi
if $tools/bin/pip install -q nvidia-cuda-nvcc-cu11==11.8.89; then
  ptxas=$(find $tools -name ptxas -type f | head -1)
  chmod +x "$ptxas"
  for card in 80 86 89 90; do "$ptxas" -arch=sm_$card -o $into/kernels.$card.cubin $into/kernels.ptx; done
else
  echo "build.sh: no assembler; run.sh then measures PTX alone"
fi
du -sh $into
