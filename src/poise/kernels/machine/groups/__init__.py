"""The groups of a workspace's sections: what only some kernels read and write, a file each."""
