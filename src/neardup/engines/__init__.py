"""Engines that run the stages of a job elsewhere than in threads of this process."""
