use proptest::prelude::*;

use super::*;
use crate::Evaluation;
use crate::testing::{Built, VARIABLES, steps};

const TIME: Duration = Duration::from_secs(30);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With all variables fixed, a term has its value and no other.
    #[test]
    fn circuits_mean_the_same(steps in steps(5..40), values in proptest::array::uniform3(any::<u8>())) {
        let mut built = Built::new(&steps);
        let values = [u128::from(values[0] & 7), u128::from(values[1] & 3), u128::from(values[2])];
        let mut circuit = Circuit::new();
        let mut fixed = Vec::new();
        for (index, &value) in values.iter().enumerate() {
            let variable = built.terms[index];
            let value = built.pool.constant(VARIABLES[index], value);
            fixed.push(built.pool.binary(Binary::Eq, variable, value));
        }
        for term in built.terms.clone() {
            let value = Evaluation::new(&built.pool, &|index| values[index as usize]).of(term);
            let value = built.pool.constant(built.pool.width(term), value);
            let equal = built.pool.binary(Binary::Eq, term, value);
            for (condition, expected) in [(equal, true), (built.pool.not(equal), false)] {
                let mut all = fixed.clone();
                all.push(condition);
                match circuit.decide(&built.pool, &all, TIME) {
                    CircuitAnswer::Sat(model) => {
                        prop_assert!(expected);
                        for (variable, value) in model {
                            prop_assert_eq!(value, values[variable as usize]);
                        }
                    }
                    CircuitAnswer::Unsat(_) => prop_assert!(!expected, "{:?}", built.pool.node(term)),
                    CircuitAnswer::Undecided => prop_assert!(false),
                }
            }
        }
    }
}
