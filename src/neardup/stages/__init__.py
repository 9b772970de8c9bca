"""Parts shared by several jobs: plans, stages between passes, tables."""
