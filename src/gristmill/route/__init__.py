"""Where stages meet the engine: one file a stage, each with the steps it wants and the function its tasks run."""
