/** Calls in Go, each by one language feature. The module is `m`. */
export const GO_CASES = `
# a function below
package a
func f() { g() }
func g() {}
-> f>g
# a function in another file of the package
package a
func f() { g() }
=== b.go
package a
func g() {}
-> f>b.go:g
# a function of another package of the same name
package a
func f() { g() }
=== x/b.go
package x
func g() {}
->
# a package
package a
import "m/x"
func f() { x.G() }
=== x/b.go
package x
func G() {}
-> f>x/b.go:G
# a package by another name
package a
import y "m/x"
func f() { y.G() }
=== x/b.go
package x
func G() {}
-> f>x/b.go:G
# a package from outside
package a
import "fmt"
func f() { fmt.Println() }
func Println() {}
->
# a parameter hides a function
package a
func g() {}
func f(g func()) { g() }
->
# a local variable hides a function
package a
func g() {}
func f() { g := h(); g() }
->
# a method by the receiver
package a
type T struct{}
func (t *T) f() { t.g() }
func (t *T) g() {}
-> T.f>T.g
# a method of another type
package a
type T struct{}
type U struct{}
func (t T) f() { t.g() }
func (u U) g() {}
->
# a parameter with a type
package a
type T struct{}
func (t T) g() {}
func f(t T) { t.g() }
-> f>T.g
# a pointer
package a
type T struct{}
func (t *T) g() {}
func f(t *T) { t.g() }
-> f>T.g
# a literal
package a
type T struct{}
func (t T) g() {}
func f() { t := T{}; t.g() }
-> f>T f>T.g
# the address of a literal
package a
type T struct{}
func (t *T) g() {}
func f() { t := &T{}; t.g() }
-> f>T f>T.g
# a result
package a
type T struct{}
func (t T) g() {}
func make1() T { return load() }
func f() { make1().g() }
-> f>make1 f>T.g
# a result beside an error
package a
type T struct{}
func (t *T) g() {}
func open() (*T, error) { return nil, nil }
func f() { t, err := open(); _ = err; t.g() }
-> f>open f>T.g
# a field
package a
type T struct{}
func (t T) g() {}
type U struct{ t T }
func (u *U) f() { u.t.g() }
-> U.f>T.g
# a field of a field
package a
type T struct{}
func (t T) g() {}
type U struct{ t T }
type V struct{ u *U }
func (v V) f() { v.u.t.g() }
-> V.f>T.g
# an embedded type
package a
type T struct{}
func (t T) g() {}
type U struct{ T }
func (u U) f() { u.g() }
-> U.f>T.g
# an embedded pointer of another package
package a
import "m/x"
type U struct{ *x.T }
func (u U) f() { u.G() }
=== x/b.go
package x
type T struct{}
func (t *T) G() {}
-> U.f>x/b.go:T.G
# an interface
package a
type I interface { g() }
func f(i I) { i.g() }
-> f>I.g
# a slice
package a
type T struct{}
func (t T) g() {}
func f(all []T) { for _, t := range all { t.g() } }
-> f>T.g
# an element
package a
type T struct{}
func (t T) g() {}
func f(all []*T) { all[0].g() }
-> f>T.g
# a map
package a
type T struct{}
func (t T) g() {}
func f(all map[string]T) { for _, t := range all { t.g() } }
-> f>T.g
# a variable with a type
package a
type T struct{}
func (t T) g() {}
func f() { var t T; t.g() }
-> f>T.g
# a variable of the package
package a
type T struct{}
func (t T) g() {}
var t = T{}
func f() { t.g() }
-> >T f>T.g
# a closure
package a
func g() {}
func f() { h := func() { g() }; h() }
-> f>g
# go and defer
package a
func g() {}
func h() {}
func f() { go g(); defer h() }
-> f>g f>h
# a type assertion
package a
type T struct{}
func (t T) g() {}
func f(x any) { x.(T).g() }
-> f>T.g
# a type of another package
package a
import "m/x"
func f(t x.T) { t.G() }
=== x/b.go
package x
type T struct{}
func (t T) G() {}
-> f>x/b.go:T.G
# a maker of another package
package a
import "m/x"
func f() { t := x.New(); t.G() }
=== x/b.go
package x
type T struct{}
func New() *T { return nil }
func (t *T) G() {}
-> f>x/b.go:New f>x/b.go:T.G
# methods of the same name, nobody knows which
package a
type T struct{}
type U struct{}
func (t T) g1() {}
func (u U) g1() {}
func f(x any) { x.g1() }
->
# a generic function
package a
func g[T any](x T) T { return x }
func f() { g[int](1) }
-> f>g
# parameters of a function without a name
package a
type T struct{}
type U struct{}
func (t T) g() {}
func (u U) g() {}
func each(do func(t *T)) {}
func f(x *U) { each(func(x *T) { x.g() }) }
-> f>each f>T.g
# new, make and a variable number of parameters
package a
type T struct{}
type U struct{}
func (t T) g() {}
func (u U) g() {}
func f(all ...*U) { t := new(T); t.g(); all[0].g() }
func h() { all := make(map[string]*T); all["a"].g() }
-> f>T.g f>U.g h>T.g
`;
