#!/bin/bash
# A comparison over a cluster: each task of the array is one shard of the grid.
#   sbatch --array=1-4 compare-array.sh grid.toml results
#   ostraka compare merge results/whole results/shard-*     when all have ended
# Submitted again, the shards go on where they were stopped; finished ones end at once.
#SBATCH --job-name=ostraka-compare
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --output=ostraka-compare-%A-%a.log
set -eu
ostraka=${OSTRAKA:-ostraka}
exec "$ostraka" compare "$1" --out "$2/shard-$SLURM_ARRAY_TASK_ID" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --jobs "$SLURM_CPUS_PER_TASK"
