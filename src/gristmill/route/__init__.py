"""Where stages meet the engine: one file a stage, each with the steps it wants and the function its tasks run.

Those functions import what is heavy (kernels, tokenizers) themselves: the parent process, which only plans, never does.
"""
