//! C++ streams (`<istream>`, `<ostream>`, `<sstream>`, `<fstream>`) in the layout of libstdc++.
//! File input and output is recorded when the library calls the C library (`runtime::foreign`). The
//! contents of a stream in memory are hidden state, identified by the stream's address.
//!
//! The `ostream` of an `iostream` is sixteen bytes after its `istream`: output through the one is
//! input through the other.

use crate::effect::Access::{Adds, Sets, Uses};
use crate::effect::{External, Hidden, Ret, State, ext, flag, range};

/// Output to a stream accumulates.
const WRITES: &[Hidden] = &[Hidden::of_object(State::CxxStream, 0, Adds)];
const READS: &[Hidden] =
    &[Hidden::of_object(State::CxxStream, 0, Uses), Hidden::within(State::CxxStream, 0, 16, Uses)];
/// A constructor, `open` or `str(text)` of an input or output stream, and of a stream that is both.
const SETS: &[Hidden] = &[Hidden::of_object(State::CxxStream, 0, Sets)];
const SETS_BOTH: &[Hidden] =
    &[Hidden::of_object(State::CxxStream, 0, Sets), Hidden::within(State::CxxStream, 0, 16, Sets)];
/// `str()`: the first slot points to its result.
const READS_BUFFER: &[Hidden] =
    &[Hidden::of_object(State::CxxStream, 1, Uses), Hidden::within(State::CxxStream, 1, 16, Uses)];

/// An inserter. Precision, width and flags are in the stream's `ios`.
const fn inserts(name: &'static str) -> External {
    ext(name, Ret::Pointer).reads(&[range!(ios 0, 8, Const(20))]).hidden(WRITES)
}

/// A string up to its NUL.
const fn text(name: &'static str) -> External {
    inserts(name).reads(&[range!(ios 0, 8, Const(20)), range!(1, CStr)])
}

/// A string of a given length.
const fn bytes(name: &'static str) -> External {
    inserts(name).reads(&[range!(ios 0, 8, Const(20)), range!(1, Arg(2))])
}

/// An extractor of a value of a given size: reads the stream's flags, writes its state.
macro_rules! extracts {
    ($name:literal, $len:literal) => {
        ext($name, Ret::Pointer)
            .reads(&[range!(0, Const(16)), range!(ios 0, 24, Const(4))])
            .writes(&[range!(1, Const($len)), range!(ios 0, 32, Const(4))])
            .hidden(READS)
    };
}

/// Returns, inspects or skips characters.
const fn takes(name: &'static str, ret: Ret) -> External {
    ext(name, ret).reads(&[range!(0, Const(16))]).writes(&[range!(ios 0, 32, Const(4))]).hidden(READS)
}

/// Extracts into an array of a given size, with a NUL.
const fn into_array(name: &'static str) -> External {
    takes(name, Ret::Pointer).writes(&[range!(1, CStrMax(2)), range!(ios 0, 32, Const(4))])
}

/// Extracts into a `std::string`: the object, and its bytes with a NUL.
const fn into_string(name: &'static str) -> External {
    takes(name, Ret::Pointer).writes(&[
        range!(1, Const(32)),
        range!(always at 1, CStr),
        range!(ios 0, 32, Const(4)),
    ])
}

/// A query of the state of an `ios`.
const fn state(name: &'static str) -> External {
    ext(name, Ret::Int).reads(&[range!(field 0, 32, Const(4))])
}

/// Flushes buffered output.
const fn flushes(name: &'static str) -> External {
    ext(name, Ret::Pointer).hidden(const { &[Hidden::of_object(State::CxxStream, 0, Uses)] })
}

/// A constructor or member with only numeric arguments.
const fn sets(name: &'static str, sets: &'static [Hidden]) -> External {
    ext(name, Ret::Void).hidden(sets)
}

/// A constructor or member with a `std::string` argument, a text or the name of a file.
const fn of_string(name: &'static str, hidden: &'static [Hidden]) -> External {
    sets(name, hidden).reads(&[range!(1, Const(32)), range!(always at 1, CStr)])
}

const fn of_name(name: &'static str, hidden: &'static [Hidden]) -> External {
    sets(name, hidden).reads(&[range!(1, CStr)])
}

const fn gives(name: &'static str) -> External {
    ext(name, Ret::Void).writes(&[range!(0, Const(32)), range!(always at 0, CStr)]).hidden(READS_BUFFER)
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
    // operator<<(std::ostream&, const std::string&): the object, and its bytes with a NUL.
    inserts(
        "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
    )
    .reads(&[range!(ios 0, 8, Const(20)), range!(1, Const(32)), range!(always at 1, CStr)]),
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
    // Their implementations in the library.
    inserts("_ZNSo9_M_insertIbEERSoT_"),
    inserts("_ZNSo9_M_insertIlEERSoT_"),
    inserts("_ZNSo9_M_insertImEERSoT_"),
    inserts("_ZNSo9_M_insertIxEERSoT_"),
    inserts("_ZNSo9_M_insertIyEERSoT_"),
    inserts("_ZNSo9_M_insertIdEERSoT_"),
    inserts("_ZNSo9_M_insertIeEERSoT_"),
    inserts("_ZNSo9_M_insertIPKvEERSoT_"),
    // std::endl, std::flush, std::ends, and streams that receive one of them.
    ext("_ZNSolsEPFRSoS_E", Ret::Pointer).flags(flag::CALLS_BACK).hidden(WRITES),
    ext("_ZNSolsEPFRSt8ios_baseS0_E", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("_ZNSolsEPFRSt9basic_iosIcSt11char_traitsIcEES3_E", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", Ret::Pointer).hidden(WRITES),
    ext("_ZSt4endsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", Ret::Pointer).hidden(WRITES),
    ext("_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", Ret::Pointer),
    flushes("_ZNSo5flushEv"),
    // std::ostream::put and write.
    ext("_ZNSo3putEc", Ret::Pointer).hidden(WRITES),
    ext("_ZNSo5writeEPKcl", Ret::Pointer).reads(&[range!(1, Arg(2))]).hidden(WRITES),
    // std::istream::operator>> of bool, short, int, long, long long (signed, unsigned), float, double, long
    // double, void*.
    extracts!("_ZNSirsERb", 1),
    extracts!("_ZNSirsERs", 2),
    extracts!("_ZNSirsERt", 2),
    extracts!("_ZNSirsERi", 4),
    extracts!("_ZNSirsERj", 4),
    extracts!("_ZNSirsERl", 8),
    extracts!("_ZNSirsERm", 8),
    extracts!("_ZNSirsERx", 8),
    extracts!("_ZNSirsERy", 8),
    extracts!("_ZNSirsERf", 4),
    extracts!("_ZNSirsERd", 8),
    extracts!("_ZNSirsERe", 10),
    extracts!("_ZNSirsERPv", 8),
    // Their implementations in the library.
    extracts!("_ZNSi10_M_extractIbEERSiRT_", 1),
    extracts!("_ZNSi10_M_extractItEERSiRT_", 2),
    extracts!("_ZNSi10_M_extractIjEERSiRT_", 4),
    extracts!("_ZNSi10_M_extractIlEERSiRT_", 8),
    extracts!("_ZNSi10_M_extractImEERSiRT_", 8),
    extracts!("_ZNSi10_M_extractIxEERSiRT_", 8),
    extracts!("_ZNSi10_M_extractIyEERSiRT_", 8),
    extracts!("_ZNSi10_M_extractIfEERSiRT_", 4),
    extracts!("_ZNSi10_M_extractIdEERSiRT_", 8),
    extracts!("_ZNSi10_M_extractIeEERSiRT_", 10),
    extracts!("_ZNSi10_M_extractIPvEERSiRT_", 8),
    // operator>>(std::istream&, char&), and of signed and unsigned characters.
    extracts!("_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_", 1),
    extracts!("_ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_Ra", 1),
    extracts!("_ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_Rh", 1),
    // std::__istream_extract: arrays of characters.
    into_array("_ZSt17__istream_extractRSiPcl"),
    // operator>>(std::istream&, std::string&) and std::getline.
    into_string(
        "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
    ),
    into_string(
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
    ),
    into_string(
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_",
    ),
    // std::istream::get, getline, read, readsome, peek, ignore; std::ws.
    takes("_ZNSi3getEv", Ret::Int),
    extracts!("_ZNSi3getERc", 1),
    into_array("_ZNSi3getEPcl"),
    into_array("_ZNSi3getEPclc"),
    into_array("_ZNSi7getlineEPcl"),
    into_array("_ZNSi7getlineEPclc"),
    takes("_ZNSi4readEPcl", Ret::Pointer).writes(&[range!(1, Gcount(0)), range!(ios 0, 32, Const(4))]),
    takes("_ZNSi8readsomeEPcl", Ret::Count).writes(&[range!(1, Ret), range!(ios 0, 32, Const(4))]),
    takes("_ZNSi4peekEv", Ret::Int),
    takes("_ZNSi6ignoreEv", Ret::Pointer),
    takes("_ZNSi6ignoreEl", Ret::Pointer),
    takes("_ZNSi6ignoreEli", Ret::Pointer),
    takes("_ZNSi5ungetEv", Ret::Pointer),
    takes("_ZNSi7putbackEc", Ret::Pointer),
    takes("_ZSt2wsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_", Ret::Pointer),
    ext("_ZNSirsEPFRSiS_E", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("_ZNKSi6gcountEv", Ret::Long).reads(&[range!(field 0, 8, Const(8))]),
    // std::ios: operator bool, operator!, bad, eof, fail, good, rdstate; clear and setstate.
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEEcvbEv"),
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEEntEv"),
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEE3badEv"),
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEE3eofEv"),
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEE4failEv"),
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEE4goodEv"),
    state("_ZNKSt9basic_iosIcSt11char_traitsIcEE7rdstateEv"),
    ext("_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate", Ret::Void)
        .writes(&[range!(field 0, 32, Const(4))]),
    state("_ZNSt9basic_iosIcSt11char_traitsIcEE8setstateESt12_Ios_Iostate")
        .writes(&[range!(field 0, 32, Const(4))]),
    // std::istringstream, std::ostringstream, std::stringstream: constructors, str(text), str().
    sets("_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1Ev", SETS),
    sets("_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev", SETS),
    sets("_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev", SETS_BOTH),
    of_string(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        SETS,
    ),
    of_string(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        SETS,
    ),
    of_string(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        SETS_BOTH,
    ),
    of_string(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        SETS,
    ),
    of_string(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        SETS,
    ),
    of_string(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        SETS_BOTH,
    ),
    gives("_ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv"),
    gives("_ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv"),
    gives("_ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv"),
    // std::ifstream, std::fstream: the data read depends on the name of the opened file.
    of_name("_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode", SETS),
    of_name("_ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", SETS),
    of_string(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        SETS,
    ),
    of_string(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        SETS,
    ),
    of_name("_ZNSt13basic_fstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode", SETS_BOTH),
    of_name("_ZNSt13basic_fstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", SETS_BOTH),
    // std::ofstream, and the flush of a buffer on close.
    of_name("_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode", SETS),
    of_name("_ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", SETS),
    of_string(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        SETS,
    ),
    of_string(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        SETS,
    ),
    flushes("_ZNSt14basic_ofstreamIcSt11char_traitsIcEE5closeEv"),
    flushes("_ZNSt14basic_ofstreamIcSt11char_traitsIcEED1Ev"),
    sets("_ZNSt13basic_fstreamIcSt11char_traitsIcEE5closeEv", READS),
    sets("_ZNSt13basic_fstreamIcSt11char_traitsIcEED1Ev", READS),
];
