// global_allocator.rs: a Rust program whose #[global_allocator] is mimalloc or, with --cfg
// jemalloc, jemalloc, called by the names that Rust's bindings use. own_malloc.sh checks the
// allocations: `fill` keeps 40,000 boxes of 1,000 bytes and one vector of as many pointers; `churn`
// frees its 500 vectors of 100 bytes.
use std::alloc::{GlobalAlloc, Layout};
use std::time::Duration;

#[cfg(not(jemalloc))]
mod names {
    extern "C" {
        fn mi_malloc_aligned(size: usize, align: usize) -> *mut u8;
        fn mi_realloc_aligned(p: *mut u8, size: usize, align: usize) -> *mut u8;
        fn mi_free(p: *mut u8);
    }
    pub unsafe fn take(size: usize, align: usize) -> *mut u8 {
        mi_malloc_aligned(size, align)
    }
    pub unsafe fn resize(p: *mut u8, size: usize, align: usize) -> *mut u8 {
        mi_realloc_aligned(p, size, align)
    }
    pub unsafe fn give(p: *mut u8, _size: usize, _align: usize) {
        mi_free(p)
    }
}

#[cfg(jemalloc)]
mod names {
    extern "C" {
        fn mallocx(size: usize, flags: i32) -> *mut u8;
        fn rallocx(p: *mut u8, size: usize, flags: i32) -> *mut u8;
        fn sdallocx(p: *mut u8, size: usize, flags: i32);
    }
    pub unsafe fn take(size: usize, align: usize) -> *mut u8 {
        mallocx(size, align.trailing_zeros() as i32)
    }
    pub unsafe fn resize(p: *mut u8, size: usize, align: usize) -> *mut u8 {
        rallocx(p, size, align.trailing_zeros() as i32)
    }
    pub unsafe fn give(p: *mut u8, size: usize, align: usize) {
        sdallocx(p, size, align.trailing_zeros() as i32)
    }
}

struct Chosen;

unsafe impl GlobalAlloc for Chosen {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        names::take(l.size(), l.align())
    }
    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        names::resize(p, size, l.align())
    }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        names::give(p, l.size(), l.align())
    }
}

#[global_allocator]
static GLOBAL: Chosen = Chosen;

#[inline(never)]
fn fill() -> Vec<Box<[u8; 1000]>> {
    let mut all = Vec::with_capacity(40000);
    for i in 0..40000 {
        all.push(Box::new([i as u8 | 1; 1000]));
    }
    all
}

#[inline(never)]
fn churn() -> usize {
    let mut sum = 0;
    for i in 0..500usize {
        sum += std::hint::black_box(vec![i as u8 | 1; 100]).len();
    }
    sum
}

fn main() {
    let all = fill();
    let sum = churn();
    // Leave another process time to inspect this process's memory.
    std::thread::sleep(Duration::from_millis(400));
    println!("{} {}", all.len(), sum);
    std::mem::forget(all);
}
