#!/bin/sh
#SBATCH --job-name=edgecil
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=24:00:00
#SBATCH --requeue
#
# An experiment in parts on a SLURM cluster, from check to merge:
#
#   sh examples/slurm_array.sh my.toml 8 runs/mine
#
# checks the experiment of my.toml on this machine, submits eight jobs, each of which trains an
# eighth of it, and a last job that merges their results into runs/mine. Submitted again, a part
# continues where it was stopped. Without a network on the nodes, the check shows what is missing.
set -eu

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  experiment=$1
  out=$2
  edgecil run --config "$experiment" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --out "$out-parts/$SLURM_ARRAY_TASK_ID"
  exit
fi

if [ $# != 3 ]; then
  echo "usage: sh $0 EXPERIMENT.toml PARTS OUT" >&2
  exit 2
fi
experiment=$1
parts=$2
out=$3
edgecil check --config "$experiment"
array=$(sbatch --parsable --array="1-$parts" "$0" "$experiment" "$out")
sbatch --parsable --dependency="afterok:${array%%;*}" --job-name=edgecil-merge \
  --wrap="edgecil merge \"$out\"-parts/* --out \"$out\""
