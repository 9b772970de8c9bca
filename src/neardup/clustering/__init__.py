"""From verified pairs to what stays and what goes."""
