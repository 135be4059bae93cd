"""Computing a kept result again from its raw files: a file for each subject."""
