"""Writing results so that a crash leaves either the old output or the new one."""
