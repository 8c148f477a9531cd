//! Tests the slots and types that instructions define.

use crate::common;
#[test]
fn types_of_results_fill_their_slots() {
    for seed in 0..300 {
        for inst in common::module(seed).functions.iter().flat_map(|f| &f.code) {
            let types = inst.result_types();
            let slots: u32 = types.iter().map(|ty| ty.slots()).sum();
            assert_eq!(slots, inst.defines().map_or(0, |(_, slots)| slots), "{inst}");
            let first = inst.defines().map(|(dst, _)| (dst, types[0]));
            assert_eq!(inst.result(), first, "{inst}");
        }
    }
}
