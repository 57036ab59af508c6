"""Evidence: whether what a run left is what it says, and what became of one document.

run_folder   what lies in the folder of a finished run, from its records alone: the raw input need not be there
check        what was checked, how often, and the first places where it is wrong
verify       all checks of a run; training_set those of an export
trace        one document's story
"""
