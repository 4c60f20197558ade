// typed_rust.rs: like typed.c, in Rust: boxes, vectors, strings and reference counts.
// type_tables.py lists the type that each function allocates.

use std::rc::Rc;

pub struct Widget {
    pub data: [u64; 13],
    pub id: u32,
}

pub struct Small {
    pub a: u64,
    pub b: u64,
    pub c: u64,
}

pub enum Shape {
    Circle([f64; 9]),
    Square(f64),
}

#[inline(never)]
fn known_box() -> Box<Widget> {
    Box::new(Widget { data: [3; 13], id: 1 })
}

#[inline(never)]
fn known_vector(n: usize) -> Vec<Small> {
    let mut v = Vec::new();
    for i in 0..n {
        v.push(Small { a: i as u64, b: 0, c: 0 });
    }
    v
}

#[inline(never)]
fn known_string(n: usize) -> String {
    "x".repeat(n)
}

#[inline(never)]
fn known_rc() -> Rc<Widget> {
    Rc::new(Widget { data: [1; 13], id: 2 })
}

#[inline(never)]
fn known_enum() -> Box<Shape> {
    Box::new(Shape::Circle([1.0; 9]))
}

fn main() {
    let a = known_box();
    let b = known_vector(100);
    let c = known_string(500);
    let d = known_rc();
    let e = known_enum();
    let s = match &*e {
        Shape::Circle(x) => x[0],
        Shape::Square(x) => *x,
    };
    let sum = b.iter().map(|x| x.a + x.b + x.c).sum::<u64>() + a.data[1] + d.data[2];
    println!("{} {} {} {} {}", a.id, sum, c.len(), d.id, s);
}
