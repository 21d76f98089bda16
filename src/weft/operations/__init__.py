"""Operations on storage, one file each; none of them knows ``SparseTensor``."""
