"""A recipe on a cluster: its groups of steps as jobs of Slurm or Ray, through datatrove's executors.

    submission.py   what the submitter and the ranks of one run tell each other: orders, marks, failures
    chain.py        which jobs there are, one behind the other, and with how many ranks
    advance.py      follows the route by records: carries out what is one task, gives the next job its orders
    rank.py         what one rank does, on whatever node; the last one of a job advances the route
    slurm.py        jobs as dependent arrays, and whether they are still there
    ray.py          the same jobs one after another
    drive.py        submit, watch, and what people are told

Nobody schedules here. Records say what is done, as on one machine, so that a run may begin there and end here.
"""
