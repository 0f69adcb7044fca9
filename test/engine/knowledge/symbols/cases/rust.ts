/** Calls in Rust, each by one language feature. The crate is `m`, and the first file is its root. */
export const RUST_CASES = `
# a function below
fn f() { g(); }
fn g() {}
-> f>g
# a parameter hides a function
fn g() {}
fn f(g: fn()) { g(); }
->
# a local variable hides a function
fn g() {}
fn f() { let g = h(); g(); }
->
# a method of self
struct T;
impl T {
    fn f(&self) { self.g(); }
    fn g(&self) {}
}
-> T.f>T.g
# a method of another type
struct T;
struct U;
impl T { fn f(&self) { self.g(); } }
impl U { fn g(&self) {} }
->
# an associated function
struct T;
impl T { fn new() -> T { T } }
fn f() { T::new(); }
-> f>T.new
# Self
struct T { a: u8 }
impl T {
    fn new() -> Self { Self::make() }
    fn make() -> Self { load() }
}
-> T.new>T.make
# the object of an associated function
struct T;
impl T { fn new() -> T { load() } fn g(&self) {} }
fn f() { let t = T::new(); t.g(); }
-> f>T.new f>T.g
# the object of one that returns Self
struct T;
impl T { fn new() -> Self { load() } fn g(&self) {} }
fn f() { T::new().g(); }
-> f>T.new f>T.g
# a parameter with a type
struct T;
impl T { fn g(&self) {} }
fn f(t: T) { t.g(); }
-> f>T.g
# a reference
struct T;
impl T { fn g(&mut self) {} }
fn f(t: &mut T) { t.g(); }
-> f>T.g
# a literal
struct T { a: u8 }
impl T { fn g(&self) {} }
fn f() { let t = T { a: 1 }; t.g(); }
-> f>T f>T.g
# a field
struct T;
impl T { fn g(&self) {} }
struct U { t: T }
impl U { fn f(&self) { self.t.g(); } }
-> U.f>T.g
# a box
struct T;
impl T { fn g(&self) {} }
struct U { t: Box<T> }
impl U { fn f(&self) { self.t.g(); } }
-> U.f>T.g
# an option that is taken apart
struct T;
impl T { fn g(&self) {} }
fn make() -> Option<T> { None }
fn f() { if let Some(t) = make() { t.g(); } }
-> f>make f>T.g
# a question mark
struct T;
impl T { fn g(&self) {} }
fn open() -> Result<T, E> { load() }
fn f() -> Result<(), E> { let t = open()?; t.g(); Ok(()) }
-> f>open f>T.g
# a vector
struct T;
impl T { fn g(&self) {} }
fn f(all: Vec<T>) { for t in all { t.g(); } }
-> f>T.g
# a trait's method on a type that has it
struct T;
trait G { fn g(&self); }
impl G for T { fn g(&self) {} }
fn f(t: T) { t.g(); }
-> f>T.g
# a trait object
trait G { fn g(&self); }
fn f(t: &dyn G) { t.g(); }
-> f>G.g
# a bound
trait G { fn g(&self); }
fn f<T: G>(t: T) { t.g(); }
-> f>G.g
# several bounds, one in a where clause
use std::fmt::Debug;
trait G { fn g(&self); }
trait H { fn h(&self); }
fn f<T: Debug + G>(t: T) where T: Send + H { t.g(); t.h(); }
-> f>G.g f>H.h
# impl of two traits as a parameter
trait G { fn g(&self); }
fn f(t: impl G + Send) { t.g(); }
-> f>G.g
# impl of a trait as a parameter
trait G { fn g(&self); }
fn f(t: impl G) { t.g(); }
-> f>G.g
# modules that import everything of each other
mod a;
mod b;
mod c;
fn f() { a::g(); a::gone(); }
=== src/a.rs
pub use crate::b::*;
pub use crate::c::*;
=== src/b.rs
pub use crate::a::*;
pub use crate::c::*;
fn h() { g(); gone(); }
=== src/c.rs
pub use crate::a::*;
pub use crate::b::*;
pub fn g() {}
-> f>src/c.rs:g src/b.rs:h>src/c.rs:g
# a default method of a trait
trait G { fn g(&self) { self.h(); } fn h(&self); }
-> G.g>G.h
# a module in the file
mod x { pub fn g() {} }
fn f() { x::g(); }
-> f>x.g
# a module in another file
mod x;
fn f() { x::g(); }
=== src/x.rs
pub fn g() {}
-> f>src/x.rs:g
# use
mod x;
use x::g;
fn f() { g(); }
=== src/x.rs
pub fn g() {}
-> f>src/x.rs:g
# use by another name
mod x;
use crate::x::g as h;
fn f() { h(); }
=== src/x.rs
pub fn g() {}
-> f>src/x.rs:g
# use of everything
mod x;
use x::*;
fn f() { g(); }
=== src/x.rs
pub fn g() {}
-> f>src/x.rs:g
# super
mod x;
fn g() {}
=== src/x.rs
pub fn f() { super::g(); }
-> src/x.rs:f>g
# a module in a folder
mod x;
fn f() { x::y::g(); }
=== src/x/mod.rs
pub mod y;
=== src/x/y.rs
pub fn g() {}
-> f>src/x/y.rs:g
# pub use
mod x;
fn f() { x::g(); }
=== src/x.rs
mod y;
pub use y::g;
=== src/x/y.rs
pub fn g() {}
-> f>src/x/y.rs:g
# from outside
use std::mem::swap;
mod x;
fn f() { swap(a, b); }
=== src/x.rs
pub fn swap() {}
->
# a closure
fn g() {}
fn f() { let h = || g(); h(); }
-> f>g
# a macro's arguments
fn g() -> u8 { 1 }
fn f() { println!("{}", g()); }
-> f>g
# methods of the same name, nobody knows which
struct T;
struct U;
impl T { fn g1(&self) {} }
impl U { fn g1(&self) {} }
fn f(x: Unknown) { x.g1(); }
->
# the last expression of a function
struct T;
impl T { fn g(&self) {} }
fn make() -> T { load() }
fn f() { make().g() }
-> f>make f>T.g
`;
