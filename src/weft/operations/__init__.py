"""Operations on storage, with one file for each; none of them depends on ``SparseTensor``."""
