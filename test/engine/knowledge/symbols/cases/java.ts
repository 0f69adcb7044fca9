/** Calls in Java, each by one language feature. */
export const JAVA_CASES = `
# a method of the class by its bare name
class A { void f() { g(); } void g() {} }
-> A.f>A.g
# this
class A { void f() { this.g(); } void g() {} }
-> A.f>A.g
# a method of another class of the same name
class A { void f() { g(); } }
class B { void g() {} }
->
# a static method by its class
class A { void f() { B.g(); } }
class B { static void g() {} }
-> A.f>B.g
# a new object
class A { void f() { B b = new B(); b.g(); } }
class B { void g() {} }
-> A.f>B A.f>B.g
# a new object at once
class A { void f() { new B().g(); } }
class B { void g() {} }
-> A.f>B A.f>B.g
# var
class A { void f() { var b = new B(); b.g(); } }
class B { void g() {} }
-> A.f>B A.f>B.g
# a parameter
class A { void f(B b) { b.g(); } }
class B { void g() {} }
-> A.f>B.g
# a field
class A { private B b; void f() { b.g(); } }
class B { void g() {} }
-> A.f>B.g
# a field by this
class A { private B b; void f() { this.b.g(); } }
class B { void g() {} }
-> A.f>B.g
# a local variable hides a field
class A { private B b; void f() { C b = load(); b.g(); } }
class B { void g() {} }
class C { void g() {} }
-> A.f>C.g
# a result
class A { B make() { return null; } void f() { make().g(); } }
class B { void g() {} }
-> A.f>A.make A.f>B.g
# a base
class A { void g() {} }
class B extends A { void f() { g(); } }
-> B.f>A.g
# an override
class A { void g() {} }
class B extends A { void g() {} void f() { g(); } }
-> B.f>B.g
# super
class A { void g() {} }
class B extends A { void g() { super.g(); } }
-> B.g>A.g
# an interface
interface I { void g(); }
class A { void f(I i) { i.g(); } }
-> A.f>I.g
# a default method of an interface
interface I { default void g() {} }
class A implements I { void f() { g(); } }
-> A.f>I.g
# a list
import java.util.List;
class A { void f(List<B> all) { for (B b : all) { b.g(); } } }
class B { void g() {} }
-> A.f>B.g
# var in a loop
import java.util.List;
class A { void f(List<B> all) { for (var b : all) { b.g(); } } }
class B { void g() {} }
-> A.f>B.g
# an array
class A { void f(B[] all) { all[0].g(); } }
class B { void g() {} }
-> A.f>B.g
# a cast
class A { void f(Object o) { ((B) o).g(); } }
class B { void g() {} }
-> A.f>B.g
# a lambda
class A { Runnable f() { return () -> g(); } void g() {} }
-> A.f>A.g
# a nested class
class A { static class B { void g() {} } void f() { new B().g(); } }
-> A.f>A.B A.f>A.B.g
# a method of the class around
class A { void g() {} class B { void f() { g(); } } }
-> A.B.f>A.g
# an enum
enum E { X; void g() {} }
class A { void f(E e) { e.g(); } }
-> A.f>E.g
# a record
record R(B b) { void f() { b.g(); } }
class B { void g() {} }
-> R.f>B.g
# an import
package a;
import b.B;
class A { void f() { B.g(); } }
=== b/B.java
package b;
public class B { public static void g() {} }
-> A.f>b/B.java:B.g
# everything of a package
package a;
import b.*;
class A { void f(B b) { b.g(); } }
=== b/B.java
package b;
public class B { public void g() {} }
-> A.f>b/B.java:B.g
# a static import
package a;
import static b.B.g;
class A { void f() { g(); } }
=== b/B.java
package b;
public class B { public static void g() {} }
-> A.f>b/B.java:B.g
# the same package
package a;
class A { void f() { B.g(); } }
=== a/B.java
package a;
class B { static void g() {} }
-> A.f>a/B.java:B.g
# a class of another package that is not imported
package a;
class A { void f(B b) { b.g(); } }
=== b/B.java
package b;
public class B { public void g() {} }
->
# a class from outside of the same name
package a;
import java.util.Date;
class A { void f(Date d) { d.g(); } }
=== b/Date.java
package b;
public class Date { public void g() {} }
->
# a full name
package a;
class A { void f() { b.B.g(); } }
=== b/B.java
package b;
public class B { public static void g() {} }
-> A.f>b/B.java:B.g
# calls in a row
class A { void f() { new B().b().g(); } }
class B { B b() { return this; } void g() {} }
-> A.f>B A.f>B.b A.f>B.g
# methods of the same name, nobody knows which
class A { void f() { load().g1(); } }
class B { void g1() {} }
class C { void g1() {} }
->
# a generic class
class Box<T> { T get1() { return null; } }
class B { void g() {} }
class A { void f(Box<B> box) { box.get1().g(); } }
-> A.f>Box.get1 A.f>B.g
`;
