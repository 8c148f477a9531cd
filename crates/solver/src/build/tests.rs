use crate::{Binary, Pool};

#[test]
fn constants_in_sums_fold() {
    let mut pool = Pool::new();
    let x = pool.variable(0, 32);
    let one = pool.constant(32, 1);
    let three = pool.constant(32, 3);
    let mut t = x;
    for _ in 0..3 {
        t = pool.binary(Binary::Add, t, one);
    }
    assert_eq!(t, pool.binary(Binary::Add, three, x));
    assert_eq!(x, pool.binary(Binary::Sub, t, three));
}
