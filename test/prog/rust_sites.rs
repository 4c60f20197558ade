// rust_sites.rs: functions that allocate through Rust's library. rust_sites.sh lists the blocks and
// bytes of each.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

macro_rules! sites {
    ($($name:ident -> $type:ty $body:block)*) => {
        $(#[inline(never)] fn $name() -> $type $body)*
    };
}

sites! {
    reserved -> Vec<u8> { Vec::with_capacity(5000) }
    boxed -> Box<[u8; 300]> { Box::new([1; 300]) }
    zeroed -> Vec<u8> { vec![0; 10000] }
    counted -> Rc<[u64; 20]> { Rc::new([3; 20]) }
    shared -> Arc<str> { Arc::from("a text that is kept for ever") }
    pushed -> Vec<u64> {
        let mut v = Vec::new();
        for i in 0..1000 {
            v.push(i);
        }
        v
    }
    inserted -> HashMap<u64, u64> {
        let mut m = HashMap::new();
        for i in 0..500 {
            m.insert(i, i);
        }
        m
    }
    sorted -> BTreeMap<u64, u64> {
        let mut m = BTreeMap::new();
        for i in 0..500 {
            m.insert(i, i);
        }
        m
    }
    queued -> VecDeque<u32> {
        let mut d = VecDeque::new();
        for i in 0..300 {
            d.push_back(i);
        }
        d
    }
    written -> String {
        let mut s = String::new();
        for _ in 0..100 {
            s.push_str("some words ");
        }
        s
    }
}

fn main() {
    let all = (reserved(), boxed(), zeroed(), counted(), shared(), pushed(), inserted(), sorted(),
               queued(), written());
    std::mem::forget(all);
}
