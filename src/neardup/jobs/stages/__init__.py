"""Stages that several jobs have: components, and the exchange by partitions of them."""
