"""The drill: a toy training job is killed, its disks are lost and its checkpoints damaged, and it must end as if never.

What is real: the job's ranks, the uploader and rclone are processes, killed by SIGKILL; tiers are folders and a bucket.
What is simulated: nodes are folders, all ranks run on this machine, the object store is moto, and nothing loses power,
so what the kernel has not written yet is never lost. See docs/guides/checkpoints.md.
"""
