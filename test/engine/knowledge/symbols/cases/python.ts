/** Calls in Python, each by one language feature. */
export const PYTHON_CASES = `
# a function below
def f():
    g()
def g():
    pass
-> f>g
# code outside of functions
def g():
    pass
g()
-> >g
# a function that calls itself
def f(n):
    return f(n - 1)
-> f>f
# a parameter hides a function
def g():
    pass
def f(g):
    g()
->
# a local variable hides a function
def g():
    pass
def f():
    g = make()
    g()
->
# a built-in function of the same name as a method
class A:
    def print(self):
        pass
def f():
    print(1)
->
# a nested function
def f():
    def g():
        pass
    g()
-> f>f.g
# a function by another name
def g():
    pass
def f():
    h = g
    h()
-> f>g
# a function that is returned
def g():
    pass
def make():
    return g
def f():
    make()()
-> f>make f>g
# a method of self
class A:
    def f(self):
        self.g()
    def g(self):
        pass
-> A.f>A.g
# a method of another class of the same name
class A:
    def f(self):
        self.g()
class B:
    def g(self):
        pass
->
# a base
class A:
    def g(self):
        pass
class B(A):
    def f(self):
        self.g()
-> B.f>A.g
# an override
class A:
    def g(self):
        pass
class B(A):
    def g(self):
        pass
    def f(self):
        self.g()
-> B.f>B.g
# two bases, the first comes first
class A:
    def g(self):
        pass
class B:
    def g(self):
        pass
class C(A, B):
    def f(self):
        self.g()
-> C.f>A.g
# super
class A:
    def g(self):
        pass
class B(A):
    def g(self):
        super().g()
-> B.g>A.g
# a new object
class A:
    def g(self):
        pass
def f():
    a = A()
    a.g()
-> f>A f>A.g
# a new object at once
class A:
    def g(self):
        pass
def f():
    A().g()
-> f>A f>A.g
# a field
class A:
    def g(self):
        pass
class B:
    def __init__(self):
        self.a = A()
    def f(self):
        self.a.g()
-> B.__init__>A B.f>A.g
# an annotation of a parameter
class A:
    def g(self):
        pass
def f(a: A):
    a.g()
-> f>A.g
# an annotation that is a string
class A:
    def g(self):
        pass
def f(a: "A"):
    a.g()
-> f>A.g
# an annotation of a result
class A:
    def g(self):
        pass
def make() -> A:
    return load()
def f():
    make().g()
-> f>make f>A.g
# an optional type
from typing import Optional
class A:
    def g(self):
        pass
def f(a: Optional[A]):
    a.g()
-> f>A.g
# a union with None
class A:
    def g(self):
        pass
def f(a: A | None):
    a.g()
-> f>A.g
# a list
class A:
    def g(self):
        pass
def f(all: list[A]):
    for a in all:
        a.g()
-> f>A.g
# with
class A:
    def g(self):
        pass
    def __enter__(self) -> "A":
        return self
def f():
    with A() as a:
        a.g()
-> f>A f>A.g
# a static method
class A:
    @staticmethod
    def g():
        pass
def f():
    A.g()
-> f>A.g
# a class method
class A:
    @classmethod
    def make(cls):
        return cls()
    def g(self):
        pass
def f():
    A.make().g()
-> A.make>A f>A.make f>A.g
# a decorator
def deco(f):
    return f
@deco
def f():
    pass
-> >deco
# an import
from b import g
def f():
    g()
=== b.py
def g():
    pass
-> f>b.py:g
# an import by another name
from b import g as h
def f():
    h()
=== b.py
def g():
    pass
-> f>b.py:g
# a module
import b
def f():
    b.g()
=== b.py
def g():
    pass
-> f>b.py:g
# a module in a package
import p.b
def f():
    p.b.g()
=== p/__init__.py
=== p/b.py
def g():
    pass
-> f>p/b.py:g
# a package that passes a name on
from p import g
def f():
    g()
=== p/__init__.py
from .b import g
=== p/b.py
def g():
    pass
-> f>p/b.py:g
# everything of a module
from b import *
def f():
    g()
=== b.py
def g():
    pass
-> f>b.py:g
# a name from outside that the project has too
from json import dumps
def f():
    dumps(1)
=== b.py
def dumps(x):
    pass
->
# a module from outside with a function of the same name
import json
def f():
    json.loads("1")
=== b.py
def loads(x):
    pass
->
# a base in another file
from b import A
class B(A):
    def f(self):
        self.g()
=== b.py
class A:
    def g(self):
        pass
-> B.f>b.py:A.g
# a circle of imports
from b import g
def f():
    g()
=== b.py
from a import f
def g():
    f()
-> f>b.py:g b.py:g>f
# an import within a function
def f():
    from b import g
    g()
=== b.py
def g():
    pass
-> f>b.py:g
# an async function
async def g():
    pass
async def f():
    await g()
-> f>g
# a lambda
def g():
    pass
def f():
    return map(lambda x: g(), [])
-> f>g
# a comprehension
def g(x):
    pass
def f(all):
    return [g(x) for x in all]
-> f>g
# a function in a dictionary is not called by its key
def g():
    pass
def f(name):
    table = {"g": g}
    table[name]()
->
# an attribute of something unknown
class A:
    def g1(self):
        pass
class B:
    def g1(self):
        pass
def f(x):
    x.g1()
->
# a dataclass field
from dataclasses import dataclass
class A:
    def g(self):
        pass
@dataclass
class B:
    a: A
    def f(self):
        self.a.g()
-> B.f>A.g
# a comprehension says its names at its end
class A:
    def g(self):
        pass
class B:
    def g(self):
        pass
def f(all: list[A], x: B):
    return [x.g() for x in all]
-> f>A.g
# a parameter of a lambda hides what is around it
class A:
    def g(self):
        pass
class B:
    def g(self):
        pass
def f(x: A):
    return lambda x: x.g()
->
# a lambda in a method has no object of its own
class A:
    def g(self):
        pass
    def f(self):
        return lambda x: x.g()
    def h(self):
        return lambda: self.g()
-> A.f>A.g A.h>A.g
# modules that import everything of each other
from x import *
def f():
    g()
    gone()
=== x.py
from y import *
from z import *
=== y.py
from x import *
from z import *
def h():
    g()
    gone()
=== z.py
from x import *
from y import *
def g():
    pass
-> f>z.py:g y.py:h>z.py:g
# what a dict has under a key, and with it
class A:
    def g(self):
        pass
class B:
    def g(self):
        pass
def f(all: dict[str, A], k):
    all[k].g()
def h(all: dict[str, B]):
    for k, v in all.items():
        v.g()
-> f>A.g h>B.g
`;
