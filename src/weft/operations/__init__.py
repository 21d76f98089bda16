"""Operations on storage, one file each; they know storage and tensors by what these hold, not ``SparseTensor``."""
