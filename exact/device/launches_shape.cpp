// Steps that move numbers: fill, copy, gather, reduce, embedding.
#include "exact/device/launches.h"

namespace ostraka::exact {
namespace {

const Step& StepOf(const DeviceSite& site, std::size_t s) {
  return site.plan.planned.program.steps[s];
}

}  // namespace

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const FillStep& fill) {
  const Step& step = StepOf(site, s);
  const std::uint32_t count = site.count_written(step);
  return site.RunOver(kRunFill, count, site.write(step), count, fill.value);
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const CopyStep& copy) {
  const Step& step = StepOf(site, s);
  return site.RunOver(kRunCopy, copy.length * copy.blocks, site.read(step, 0) + copy.from,
                      Short(copy.from_stride), site.write(step) + copy.to, Short(copy.to_stride),
                      Short(copy.length), Short(copy.blocks));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const GatherStep& gather) {
  const Step& step = StepOf(site, s);
  const std::uint32_t count = site.count_written(step);
  return site.RunOver(kRunGather, count, site.read(step, 0), site.write(step), count,
                      Tensor{site.table, site.plan.table_at[s]}, Short(gather.extents.size()));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const ReduceStep& reduce) {
  const Step& step = StepOf(site, s);
  const std::uint32_t count = site.count_written(step);
  std::size_t terms = 1;
  for (std::size_t axis = 0; axis < reduce.extents.size(); ++axis) {
    if (reduce.strides[axis] == 0) terms *= reduce.extents[axis];
  }
  return site.RunOver(kRunReduce, count, site.read(step, 0), site.write(step), count,
                      Tensor{site.table, site.plan.table_at[s]}, Short(reduce.extents.size()),
                      Short(terms));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s, const EmbeddingStep& embedding) {
  const Step& step = StepOf(site, s);
  const std::uint32_t count = site.count_written(step);
  return site.RunOver(kRunEmbedding, count, site.read(step, 0), site.read(step, 1),
                      site.write(step), count, Short(embedding.width));
}

base::Status LaunchStep(const DeviceSite& site, std::size_t s,
                        const EmbeddingBackwardStep& embedding) {
  const Step& step = StepOf(site, s);
  const std::uint32_t count = site.count_written(step);
  const Tensor starts = {site.sorted, site.plan.sorted_at[s]};
  const std::uint64_t table_rows = count / embedding.width;
  return site.RunOver(kRunEmbeddingBackward, count, site.read(step, 0), starts,
                      starts + (table_rows + 1), site.write(step), count, Short(embedding.width));
}

}  // namespace ostraka::exact
