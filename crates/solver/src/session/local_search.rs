//! Queries that a change of a single byte satisfies.
//!
//! Most branches can be flipped by changing one byte, and an input with one changed byte is also the easiest
//! to understand. So the variables of the failing conditions are tried one by one, each with all its values,
//! while everything else stays as given.

use crate::node::Term;
use crate::pool::Pool;

use super::Model;
use super::bytes::{ValueRows, nearest};

/// Maximum number of variables that are tried.
const VARIABLES: usize = 16;
/// Maximum number of rows of values that are computed: about 5 ms.
const ROWS: usize = 4000;

/// A model that differs from the given values in one variable.
pub(super) fn change_one_byte(
    pool: &Pool,
    conditions: &[Term],
    given: &dyn Fn(u32) -> u128,
) -> Option<Model> {
    let mut rows = ValueRows::new(pool, given);
    let failing: Vec<Term> = conditions.iter().copied().filter(|&t| !rows.holds(t)).collect();
    let mut left = ROWS;
    for variable in candidates(pool, &failing)? {
        let Some(term) = pool.small_variable(variable) else { continue };
        rows.next_variable();
        let mut set = [!0; 4];
        let concerned = |&&t: &&Term| pool.few_variables(t).is_none_or(|few| few.contains(&variable));
        for &condition in failing.iter().chain(conditions.iter().rev().filter(concerned)) {
            let Some(values) = rows.values(condition, Some(term), &mut left) else {
                set = [0; 4];
                break;
            };
            for (left, values) in set.iter_mut().zip(values) {
                *left &= values;
            }
            if set == [0; 4] {
                break;
            }
        }
        if set != [0; 4] {
            return Some(Model { values: [(variable, nearest(&set, given(variable)))].into() });
        }
        if left == 0 {
            return None;
        }
    }
    None
}

/// Variables common to all failing conditions, highest numbers first; if there are many, only those with the
/// highest and the lowest numbers.
fn candidates(pool: &Pool, failing: &[Term]) -> Option<Vec<u32>> {
    let (first, others) = failing.split_first()?;
    let mut all = pool.variables(*first).into_owned();
    for &condition in others {
        let variables = pool.variables(condition);
        all.retain(|variable| variables.binary_search(variable).is_ok());
    }
    if all.len() > VARIABLES {
        all.drain(VARIABLES / 2..all.len() - VARIABLES / 2);
    }
    all.reverse();
    Some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::holds;
    use crate::testing::{Built, VARIABLES, steps};

    proptest! {
        #[test]
        fn one_byte_is_changed_exactly_if_that_will_do(
            steps in steps(10..50),
            picks in proptest::collection::vec(any::<(u8, bool)>(), 1..4),
            given in proptest::array::uniform3(any::<u8>()),
        ) {
            let mut built = Built::new(&steps);
            let given = [0, 1, 2].map(|at| u128::from(given[at]) & crate::semantics::ones(VARIABLES[at]));
            let value = |v: u32| given[v as usize];
            let mut conditions = Vec::new();
            for (pick, negated) in picks {
                let at = built.truth(usize::from(pick) % built.terms.len());
                let t = built.terms[at];
                conditions.push(if negated { built.pool.not(t) } else { t });
            }
            let pool = &built.pool;
            prop_assume!(!holds(pool, &conditions, &value));
            let possible = (0..3_u32).any(|changed| {
                (0..1 << VARIABLES[changed as usize])
                    .any(|new| holds(pool, &conditions, &|v| if v == changed { new } else { value(v) }))
            });
            let found = change_one_byte(pool, &conditions, &value);
            prop_assert_eq!(found.is_some(), possible);
            if let Some(model) = found {
                prop_assert!(holds(pool, &conditions, &|v| model.value(v, value(v))));
                prop_assert_eq!(model.changes(&value).len(), 1);
            }
        }
    }
}
