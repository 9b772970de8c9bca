"""All-Pairs, PPJoin and PPJoin+, Xiao et al. (2008): docs/papers/ppjoin.md."""
