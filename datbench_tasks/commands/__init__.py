"""Sub-commands of ``datbench-tasks`` that have no package of their own."""
