#!/bin/bash
# On a machine with a GPU, without a compiler: bits, speed, and a swarm. At most 8 minutes.
#   build/gpu/run.sh [FOLDER]
# Writes FOLDER/gpu.json (one object) and FOLDER/gpu.md (its table); a step that fails or runs out of its time is named there.
cd "$(dirname "$0")" || exit 3
out=$(mkdir -p "${1:-${OUT:-out}}" && cd "${1:-${OUT:-out}}" && pwd)
lines=$out/lines.jsonl
: > "$lines"
say() { echo "== $* (${SECONDS} s)"; }
# limit, then the step's own words: its lines of JSON are kept, with an exit code that is none of "done" and "differs".
step() {
  local limit=$1
  shift
  timeout "$limit" "$@" >> "$lines" 2>> "$out/errors.txt"
  local code=$?
  [ $code -le 1 ] || printf '{"what":"failed","step":"%s","code":%d}\n' "${*:1:6}" $code >> "$lines"
}

say machine
card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2> /dev/null | head -1)
printf '{"what":"machine","card":"%s","date":"%s","kernel":"%s","cores":%d}\n' "$card" "$(date -I)" "$(uname -r)" "$(nproc)" >> "$lines"
driver=$(find / -name 'libcuda.so.1' -not -path '/proc/*' 2> /dev/null | head -1)
[ -n "$driver" ] && export LD_LIBRARY_PATH=$(dirname "$driver"):$PWD:$LD_LIBRARY_PATH
vendor=$(find / -name 'libnvidia-opencl.so*' -not -path '/proc/*' 2> /dev/null | head -1)
if [ -n "$vendor" ] && ! ls /etc/OpenCL/vendors/*.icd > /dev/null 2>&1; then
  mkdir -p icd && echo "$vendor" > icd/nvidia.icd && export OCL_ICD_VENDORS=$PWD/icd
fi
./ostraka doctor --json > "$out/doctor.json" 2>> "$out/errors.txt"
cubin=$(ls kernels.*.cubin 2> /dev/null | grep -F "$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -1 | tr -d .)" | head -1)
fast=cuda:0${cubin:+,ptx=$cubin}

say bits
for device in cuda:0 ${cubin:+cuda:0,ptx=$cubin} opencl:0 opencl:0,own_division; do
  step 60 ./device_measure $device digests
  step 60 ./device_measure $device conformance
  step 40 ./device_measure $device cases 40
done

say "what must differ"
sed 's/\(fma\|add\|sub\|mul\|div\|sqrt\)\.rn\.f32/\1.rn.ftz.f32/' kernels.ptx > flush.ptx
sed 's/div\.rn\.f32/div.approx.f32/' kernels.ptx > divide.ptx
sed 's/fma\.rn\.f32/fma.rz.f32/' kernels.ptx > round.ptx
for wrong in flush divide round; do step 60 ./device_measure cuda:0,ptx=$wrong.ptx conformance; done
step 60 ./device_measure opencl:0,options=-cl-fast-relaxed-math conformance
step 60 ./device_measure opencl:0,options=-cl-denorms-are-zero conformance

say products
for size in "8192 3072 768" "4096 4096 4096" "8192 8192 8192" "768 768 8192"; do
  step 40 ./device_measure $fast product $size
  step 40 ./device_measure opencl:0 product $size
done

say gradients
step 60 ./device_measure $fast gpt 12 768 12 1024 50257 1
step 90 ./device_measure $fast gpt 12 768 12 1024 50257 8
for model in "4 128 4 64 256 8" "6 384 6 128 256 8"; do
  step 30 ./device_measure $fast gpt $model
  step 60 ./device_measure cpu gpt $model
done
step 60 ./device_measure $fast step 12 768 12 1024 50257 1
step 30 ./device_measure $fast step 6 384 6 128 256 8

say PyTorch
step 120 python3 torch_compare.py

say "a swarm of processors and a GPU, with a liar on the GPU"
yes "Nobody vouches for anybody here." | head -3000 > text
step 120 ./ostraka swarm --json --model gpt --layers 2 --width 64 --heads 4 --context 64 --batch-size 8 --data text:text \
  --peers 5 --byzantine 1 --steps 30 --device cpu,cuda:0

step 120 ./ostraka swarm --json --model gpt --layers 2 --width 64 --heads 4 --context 64 --batch-size 8 --data text:text \
  --peers 5 --byzantine 1 --steps 30 --inner-steps 4 --part-codec i8 --result-codec i16 --device cpu,cuda:0

say table
python3 table.py "$lines" "$out" || cat "$lines"
