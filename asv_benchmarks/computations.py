"""Computations, each in several spellings, which have one program."""

from __future__ import annotations

COMPUTATIONS = {
    "two products": [
        "y(i) = A(i,j)*B(j,k)*x(k)",
        "y(i) = A(i,j)*sum(k, B(j,k)*x(k))",
        "y(i) = x(k)*A(i,j)*B(j,k)",
        "y(i) = sum(k, sum(j, A(i,j)*B(j,k))*x(k))",
        "y(p) = sum(q, A(p,q)*sum(r, x(r)*B(q,r)))",
        "einsum ij,jk,k->i A B x",
    ],
    "three matrices": [
        "C(i,l) = A(i,j)*B(j,k)*X(k,l)",
        "C(i,l) = A(i,j)*sum(k, B(j,k)*X(k,l))",
        "C(i,l) = sum(k, sum(j, A(i,j)*B(j,k))*X(k,l))",
        "einsum kl,jk,ij->il X B A",
    ],
    "four matrices": [
        "C(i,m) = A(i,j)*B(j,k)*M(k,l)*X(l,m)",
        "C(i,m) = sum(j, A(i,j)*sum(k, B(j,k)*sum(l, M(k,l)*X(l,m))))",
        "C(i,m) = sum(l, sum(k, sum(j, A(i,j)*B(j,k))*M(k,l))*X(l,m))",
    ],
    "total of a product": [
        "s = A(i,j)*B(j,k)",
        "s = sum(j, sum(i, A(i,j))*sum(k, B(j,k)))",
        "s = sum(i, sum(j,k, B(j,k)*A(i,j)))",
        "einsum jk,ij-> B A",
    ],
    "row sums of a product": [
        "y(i) = A(i,j)*B(j,k)",
        "y(i) = sum(j, A(i,j)*sum(k, B(j,k)))",
        "y(i) = sum(k, sum(j, A(i,j)*B(j,k)))",
        "einsum ij,jk->i A B",
    ],
    "trace of a product": [
        "s = A(i,j)*B(j,i)",
        "s = sum(i, sum(j, A(i,j)*B(j,i)))",
        "s = sum(j,i, B(j,i)*A(i,j))",
        "einsum ij,ji-> A B",
    ],
    "quadratic form": [
        "s = x(i)*A(i,j)*x(j)",
        "s = sum(i, x(i)*sum(j, A(i,j)*x(j)))",
        "s = sum(j, x(j)*sum(i, x(i)*A(i,j)))",
        "s = sum(j, sum(i, x(i)*A(i,j))*x(j))",
    ],
    "bilinear form": [
        "s = x(i)*A(i,j)*z(j)",
        "s = sum(i, x(i)*sum(j, A(i,j)*z(j)))",
        "s = sum(j, z(j)*sum(i, A(i,j)*x(i)))",
        "einsum i,ij,j-> x A z",
    ],
    "scaled rows and columns": [
        "C(i,j) = x(i)*A(i,j)*x(j)",
        "C(i,j) = x(i)*(A(i,j)*x(j))",
        "C(i,j) = A(i,j)*x(j)*x(i)",
        "einsum i,ij,j->ij x A x",
    ],
    "scaled rows": [
        "C(i,j) = x(i)*A(i,j)",
        "C(i,j) = A(i,j)*x(i)",
        "einsum i,ij->ij x A",
    ],
    "matrix and vector": [
        "y(i) = A(i,j)*x(j)",
        "y(i) = x(j)*A(i,j)",
        "y(i) = sum(j, x(j)*A(i,j))",
        "einsum ij,j->i A x",
    ],
    "two matrices": [
        "C(i,k) = A(i,j)*B(j,k)",
        "C(i,k) = B(j,k)*A(i,j)",
        "einsum jk,ij->ik B A",
    ],
    "a matrix and its transpose": [
        "C(i,k) = A(i,j)*A(k,j)",
        "C(i,k) = A(k,j)*A(i,j)",
        "C(p,q) = sum(r, A(p,r)*A(q,r))",
        "einsum ij,kj->ik A A",
    ],
    "sampled product": [
        "C(i,k) = M(i,k)*A(i,j)*B(j,k)",
        "C(i,k) = M(i,k)*sum(j, A(i,j)*B(j,k))",
        "C(i,k) = sum(j, A(i,j)*M(i,k)*B(j,k))",
        "einsum ij,ik,jk->ik A M B",
    ],
    "sampled dense product": [
        "C(i,k) = M(i,k)*X(i,r)*X(k,r)",
        "C(i,k) = M(i,k)*sum(r, X(i,r)*X(k,r))",
        "C(i,k) = sum(r, X(i,r)*X(k,r))*M(i,k)",
    ],
    "sampled product times a matrix": [
        "C(i,s) = M(i,k)*X(i,r)*X(k,r)*X(k,s)",
        "C(i,s) = sum(k, M(i,k)*sum(r, X(i,r)*X(k,r))*X(k,s))",
        "C(i,s) = sum(k, X(k,s)*M(i,k)*sum(r, X(k,r)*X(i,r)))",
    ],
    "product of sums": [
        "C(i,k) = sum(j, A(i,j)*B(j,k))*sum(j, B(i,j)*A(j,k))",
        "C(p,q) = sum(j, A(p,j)*B(j,q))*sum(k, B(p,k)*A(k,q))",
    ],
    "masked step": [
        "y(j) = max(i, f(i)*A(i,j))*w(j)",
        "y(k) = max(j, f(j)*A(j,k))*w(k)",
    ],
    "MTTKRP": [
        "M(i,r) = T(i,j,k)*U(j,r)*V(k,r)",
        "M(i,r) = sum(j, sum(k, T(i,j,k)*V(k,r))*U(j,r))",
        "M(i,r) = V(k,r)*U(j,r)*T(i,j,k)",
        "M(i,r) = sum(k, V(k,r)*sum(j, U(j,r)*T(i,j,k)))",
        "einsum jr,ijk,kr->ir U T V",
    ],
    "MTTKRP of the last axis": [
        "M(k,r) = T(i,j,k)*U(i,r)*V(j,r)",
        "M(k,r) = sum(i, U(i,r)*sum(j, T(i,j,k)*V(j,r)))",
        "einsum ijk,ir,jr->kr T U V",
    ],
    "Tucker core": [
        "G(a,b,c) = T(i,j,k)*U(i,a)*U(j,b)*U(k,c)",
        "G(a,b,c) = sum(i, U(i,a)*sum(j, U(j,b)*sum(k, T(i,j,k)*U(k,c))))",
        "G(a,b,c) = sum(k, U(k,c)*sum(j, sum(i, T(i,j,k)*U(i,a))*U(j,b)))",
    ],
    "tensor times vectors": [
        "y(i) = T(i,j,k)*u(j)*u(k)",
        "y(i) = sum(j, u(j)*sum(k, u(k)*T(i,j,k)))",
        "y(i) = sum(k, sum(j, T(i,j,k)*u(j))*u(k))",
    ],
    "triangles": [
        "s = A(i,j)*A(j,k)*A(i,k)",
        "s = sum(i,k, A(i,k)*sum(j, A(i,j)*A(j,k)))",
        "s = sum(i, sum(j, A(i,j)*sum(k, A(j,k)*A(i,k))))",
    ],
    "rows divided by their sums": [
        "C(i,j) = A(i,j)/sum(k, A(i,k))",
        "C(p,q) = A(p,q)/sum(r, A(p,r))",
    ],
    "similarity of rows": [
        "C(i,k) = sum(j, A(i,j)*A(k,j))/(sum(j, A(i,j)) + sum(j, A(k,j)) - sum(j, A(i,j)*A(k,j)))",
        "C(i,k) = sum(j, A(i,j)*A(k,j))/(sum(l, A(i,l)) + sum(m, A(k,m)) - sum(n, A(i,n)*A(k,n)))",
        "C(p,q) = sum(j, A(q,j)*A(p,j))/(sum(j, A(p,j)) + sum(j, A(q,j)) - sum(j, A(p,j)*A(q,j)))",
    ],
    "cosines": [
        "C(i,k) = sum(j, A(i,j)*A(k,j))/(sqrt(sum(j, A(i,j)*A(i,j)))*sqrt(sum(j, A(k,j)*A(k,j))))",
        "C(p,q) = sum(k, A(q,k)*A(p,k))/(sqrt(sum(j, A(q,j)*A(q,j)))*sqrt(sum(l, A(p,l)*A(p,l))))",
    ],
    "scaled sums": [
        "y(i) = 2*sum(j, A(i,j))",
        "y(i) = sum(j, 2*A(i,j))",
        "y(i) = sum(j, A(i,j))*2",
    ],
    "a scaled product": [
        "y(i) = 0.5*A(i,j)*x(j)",
        "y(i) = A(i,j)*(0.5*x(j))",
        "y(i) = 0.5*sum(j, x(j)*A(i,j))",
        "y(i) = A(i,j)*x(j)*0.5",
    ],
    "residual": [
        "y(i) = b(i) - A(i,j)*x(j)",
        "y(i) = b(i) - sum(j, x(j)*A(i,j))",
        "y(p) = b(p) - sum(q, A(p,q)*x(q))",
    ],
    "normal equations": [
        "y(k) = A(i,k)*A(i,j)*x(j)",
        "y(k) = sum(i, A(i,k)*sum(j, A(i,j)*x(j)))",
        "y(k) = sum(j, sum(i, A(i,j)*A(i,k))*x(j))",
    ],
    "shortest paths": [
        "C(i,j) = min(k, E(i,k) + F(k,j))",
        "C(p,q) = min(r, E(p,r) + F(r,q))",
    ],
    "largest of all": [
        "s = max(i,j, A(i,j))",
        "s = max(i, max(j, A(i,j)))",
        "s = max(j, max(i, A(i,j)))",
    ],
    "a sum of two and a vector": [
        "y(i) = (A(i,j) + B(i,j))*x(j)",
        "y(i) = A(i,j)*x(j) + B(i,j)*x(j)",
        "y(i) = sum(j, x(j)*(A(i,j) + B(i,j)))",
        "y(i) = sum(j, A(i,j)*x(j)) + sum(k, B(i,k)*x(k))",
    ],
    "a sum of two and a matrix": [
        "C(i,k) = (A(i,j) + B(i,j))*X(j,k)",
        "C(i,k) = A(i,j)*X(j,k) + B(i,j)*X(j,k)",
        "C(i,k) = sum(j, X(j,k)*(A(i,j) + B(i,j)))",
    ],
    "a difference and a vector": [
        "y(i) = (A(i,j) - B(i,j))*x(j)",
        "y(i) = A(i,j)*x(j) - B(i,j)*x(j)",
        "y(i) = sum(j, A(i,j)*x(j)) - sum(j, x(j)*B(i,j))",
    ],
    "a centred product": [
        "y(i) = (A(i,j) - c)*B(j,k)*x(k)",
        "y(i) = sum(j, (A(i,j) - c)*sum(k, B(j,k)*x(k)))",
        "y(i) = sum(k, x(k)*sum(j, B(j,k)*(A(i,j) - c)))",
    ],
    "centred normal equations": [
        "y(i) = (A(j,i) - c)*A(j,k)*x(k)",
        "y(i) = sum(j, (A(j,i) - c)*sum(k, A(j,k)*x(k)))",
    ],
    "a standardized matrix and a vector": [
        "y(i) = (A(i,j) - b(j))/d(j)*x(j)",
        "y(i) = x(j)*((A(i,j) - b(j))/d(j))",
        "y(i) = A(i,j)*(x(j)/d(j)) - sum(k, b(k)*(x(k)/d(k)))",
    ],
    "exponentials and a vector": [
        "y(i) = exp(A(i,j))*x(j)",
        "y(i) = sum(j, x(j)*exp(A(i,j)))",
        "y(i) = sum(k, exp(A(i,k))*x(k))",
    ],
    "column sums of a product": [
        "y(k) = A(i,j)*B(j,k)",
        "y(k) = sum(j, sum(i, A(i,j))*B(j,k))",
        "y(k) = sum(i, sum(j, B(j,k)*A(i,j)))",
    ],
    "weighted squares": [
        "s = w(i)*A(i,j)*A(i,j)",
        "s = sum(i, w(i)*sum(j, A(i,j)*A(i,j)))",
        "s = sum(j, sum(i, A(i,j)*w(i)*A(i,j)))",
    ],
    "a scaled product with a vector": [
        "y(i) = z(i)*A(i,j)*x(j)",
        "y(i) = z(i)*sum(j, A(i,j)*x(j))",
        "y(i) = sum(j, x(j)*A(i,j))*z(i)",
    ],
    "a scaled total": [
        "s = c*A(i,j)",
        "s = c*sum(i,j, A(i,j))",
        "s = sum(i, c*sum(j, A(i,j)))",
    ],
    "outer products": [
        "C(i,j) = u(i)*u(j)*c",
        "C(i,j) = c*u(i)*u(j)",
        "C(i,j) = u(i)*(c*u(j))",
    ],
}
