"""Other projects' ways in and out: datatrove's filters as a judge of ours."""
