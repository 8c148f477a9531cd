//! Output of C++ (`<ostream>`, `<iostream>`): what is read. What was put out, and where, is seen when the library
//! hands it on (`runtime::foreign`), so a stream into memory puts out nothing.

use crate::effect::{External, Ret, ext, flag, range};

/// A formatted value. The stream's own flags, width and precision lie in its object.
const fn inserts(name: &'static str) -> External {
    ext(name, Ret::Pointer).reads(&[range!(0, Const(272))])
}

/// A text up to its NUL.
const fn text(name: &'static str) -> External {
    ext(name, Ret::Pointer).reads(&[range!(0, Const(272)), range!(1, CStr)])
}

/// A text of a given length.
const fn bytes(name: &'static str) -> External {
    ext(name, Ret::Pointer).reads(&[range!(0, Const(272)), range!(1, Arg(2))])
}

pub(super) const PART: &[External] = &[
    // operator<<(std::ostream&, const char*), and of signed and unsigned characters.
    text("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"),
    text("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKa"),
    text("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKh"),
    // operator<<(std::ostream&, char), and of signed and unsigned characters.
    inserts("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c"),
    inserts("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_a"),
    inserts("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_h"),
    // std::__ostream_insert: strings and string views.
    bytes("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l"),
    // operator<<(std::ostream&, const std::string&): the object, and its bytes, which a NUL follows.
    ext(
        "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        Ret::Pointer,
    )
    .reads(&[range!(0, Const(272)), range!(1, Const(32)), range!(at 1, CStr)]),
    // std::ostream::operator<< of bool, short, int, long, long long (signed, unsigned), float, double, long
    // double, const void*.
    inserts("_ZNSolsEb"),
    inserts("_ZNSolsEs"),
    inserts("_ZNSolsEt"),
    inserts("_ZNSolsEi"),
    inserts("_ZNSolsEj"),
    inserts("_ZNSolsEl"),
    inserts("_ZNSolsEm"),
    inserts("_ZNSolsEx"),
    inserts("_ZNSolsEy"),
    inserts("_ZNSolsEf"),
    inserts("_ZNSolsEd"),
    inserts("_ZNSolsEe"),
    inserts("_ZNSolsEPKv"),
    // What these are in the library.
    inserts("_ZNSo9_M_insertIbEERSoT_"),
    inserts("_ZNSo9_M_insertIlEERSoT_"),
    inserts("_ZNSo9_M_insertImEERSoT_"),
    inserts("_ZNSo9_M_insertIxEERSoT_"),
    inserts("_ZNSo9_M_insertIyEERSoT_"),
    inserts("_ZNSo9_M_insertIdEERSoT_"),
    inserts("_ZNSo9_M_insertIeEERSoT_"),
    inserts("_ZNSo9_M_insertIPKvEERSoT_"),
    // std::endl, std::flush, std::ends, and streams that are given one of them.
    ext("_ZNSolsEPFRSoS_E", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("_ZNSolsEPFRSt8ios_baseS0_E", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("_ZNSolsEPFRSt9basic_iosIcSt11char_traitsIcEES3_E", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", Ret::Pointer),
    ext("_ZSt4endsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", Ret::Pointer),
    ext("_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", Ret::Pointer),
    ext("_ZNSo5flushEv", Ret::Pointer),
    // std::ostream::put and write.
    ext("_ZNSo3putEc", Ret::Pointer),
    ext("_ZNSo5writeEPKcl", Ret::Pointer).reads(&[range!(1, Arg(2))]),
];
