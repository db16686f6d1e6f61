"""The unified evaluator at the command line and inside the hosts."""
