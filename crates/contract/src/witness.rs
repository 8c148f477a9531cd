//! Runs a state that a solver found: the program of each version is started to make a single call of the
//! function from this state (`relapse_runtime::witness`). The predictions of the formulas have to be
//! confirmed in both: how the call terminates, its result, and every byte that it wrote or could have
//! written. Otherwise the state is not a counterexample.

use crate::compare::Difference;
use crate::moment::Shown;
use crate::named::{Names, number};
use crate::summary::{End, Path, Place, Region, Shared, Variable};
use crate::version::{ObservedFunction, Version};
use expression::types::{Shape, Type};
use program::model::SymbolKind;
use recording::witness as wire;
use solver::{Binary, Term};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Timeout: a call of a function without loops takes no time, but starting a program may.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Base address of pointer targets; each region is in the middle of this many bytes.
const FIRST: u64 = 0x1000_0000_0000;
const ROOM: u64 = 1 << 24;
const PAGE: u64 = 4096;

/// A program as it was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    executable: String,
    name: String,
    directory: String,
    /// Directories of its libraries.
    libraries: BTreeSet<PathBuf>,
}

impl Program {
    pub fn of(process: &recording::Process) -> Program {
        let info = &process.info;
        let elsewhere = process.modules.iter().map(|m| &m.path).filter(|path| **path != info.executable);
        let directory = |path: &String| std::path::Path::new(path).parent().map(std::path::Path::to_owned);
        Program {
            executable: info.executable.clone(),
            name: info.arguments.first().map_or_else(|| info.executable.clone(), |a| a.text().into_owned()),
            directory: info.directory.clone(),
            libraries: elsewhere.filter_map(directory).collect(),
        }
    }
}

/// One version's side of a counterexample.
pub(crate) struct Half<'h, 'm> {
    pub version: &'h Version<'m>,
    pub function: &'h ObservedFunction<'m>,
    pub path: &'h Path,
    pub program: Option<&'h Program>,
}

/// The result of running a counterexample.
pub(crate) enum WitnessResult {
    /// Both calls behaved as the formulas predict.
    True { ended: [String; 2], differences: Vec<Difference> },
    /// They did not.
    False,
    /// Why they were not run.
    NotRun(String),
}

/// How an executed call terminated.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Returned(u64),
    Signal(u32),
    Exit(u32),
}

/// Conditions under which every followed pointer is `NULL` or points to its own memory.
pub(crate) fn addresses(shared: &mut Shared) -> Vec<Term> {
    let mut conditions = Vec::new();
    for (region, pointer) in shared.followed_pointers() {
        let pool = &mut shared.pool;
        let (null, address) = (pool.constant(64, 0), pool.constant(64, home(region).into()));
        let (is_null, is_there) =
            (pool.binary(Binary::Eq, pointer, null), pool.binary(Binary::Eq, pointer, address));
        conditions.push(pool.or(is_null, is_there));
    }
    conditions
}

fn home(region: usize) -> u64 {
    FIRST + region as u64 * ROOM + ROOM / 2
}

type Value<'v> = &'v dyn Fn(u32) -> u128;

/// The state for display: parameters, and initial values in memory.
pub(crate) fn shown(shared: &Shared, half: &Half<'_, '_>, value: Value<'_>) -> Vec<Shown> {
    let mut all = Vec::new();
    let mut bytes = BTreeMap::new();
    for (n, (variable, width)) in shared.variables.iter().enumerate() {
        let bits = value(n as u32);
        match variable {
            Variable::Parameter(name) => {
                let ty = half.function.parameters.iter().find(|p| p.name == *name).map(|p| &p.ty);
                all.push(Shown { expression: name.clone(), value: number(bits, ty, *width) });
            }
            // There is no memory at `NULL`.
            Variable::Byte(place) if is_there(shared, place.0, value) => {
                bytes.insert(*place, bits as u8);
            }
            Variable::Byte(_) | Variable::Address(_) => {}
        }
    }
    let names = Names { shared, version: half.version, function: half.function };
    all.extend(words(names, &bytes).into_iter().map(|(expression, value)| Shown { expression, value }));
    all
}

fn is_there(shared: &Shared, region: usize, value: Value<'_>) -> bool {
    shared.pointers.get(&region).is_none_or(|pointer| shared.pool.evaluate(*pointer, value) != 0)
        && match shared.of(region) {
            Region::PointerTarget(at) => is_there(shared, at.0, value),
            _ => true,
        }
}

/// Combines bytes into the named numbers and pointers that contain them.
fn words(names: Names<'_, '_>, bytes: &BTreeMap<Place, u8>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut told: BTreeSet<Place> = BTreeSet::new();
    for (place, byte) in bytes {
        let Some(named) = names.of(*place) else {
            let sign = if place.1 < 0 { '-' } else { '+' };
            let base = match names.shared.of(place.0) {
                Region::Global(name) => format!("&{name}"),
                Region::Parameter(name) => name.clone(),
                Region::PointerTarget(at) => names.of(*at).map_or_else(|| "a pointer".to_owned(), |n| n.name),
                Region::Frame(_) => continue,
            };
            all.push((format!("the byte at {base} {sign} {}", place.1.unsigned_abs()), byte.to_string()));
            continue;
        };
        if told.insert(named.place) {
            let size = named.ty.size().min(16);
            let byte = |n: u64| bytes.get(&(named.place.0, named.place.1 + n as i64)).copied().unwrap_or(0);
            let bits = (0..size).rev().fold(0u128, |bits, n| bits << 8 | u128::from(byte(n)));
            all.push((named.name, number(bits, Some(&named.ty), 8 * size as u32)));
        }
    }
    all
}

/// Runs both versions from a state.
pub(crate) fn run(shared: &Shared, halves: &[Half<'_, '_>; 2], value: Value<'_>) -> WitnessResult {
    let places: BTreeSet<Place> = shared
        .variables
        .iter()
        .filter_map(|(variable, _)| match variable {
            Variable::Byte(place) => Some(*place),
            _ => None,
        })
        .chain(halves.iter().flat_map(|half| half.path.written.keys().copied()))
        .collect();
    let mut before = BTreeMap::new();
    for place in places {
        let known = shared.variables.iter().position(|(v, _)| *v == Variable::Byte(place));
        before.insert(place, known.map_or(0, |n| value(n as u32) as u8));
    }
    let mut ended = Vec::new();
    let mut after = Vec::new();
    for half in halves {
        let (end, memory) = match call(shared, half, &before, value) {
            Ok(came) => came,
            Err(why) => return WitnessResult::NotRun(why),
        };
        let evaluate = |term: Term| shared.pool.evaluate(term, value);
        let is_predicted = match (&half.path.end, &end) {
            (End::Returned(results), Ended::Returned(word)) => results.iter().all(|term| {
                let width = shared.pool.width(*term).min(64);
                evaluate(*term) == u128::from(*word) & (u128::MAX >> (128 - width))
            }),
            (End::Signal(wanted), Ended::Signal(number)) => wanted == number,
            (End::Abort, Ended::Signal(number)) => *number == 6,
            (End::Exit(wanted), Ended::Exit(status)) => wanted == status,
            _ => false,
        };
        let is_byte_predicted = |(place, byte): (&Place, &u8)| {
            let predicted = half.path.written.get(place).map_or(before[place], |t| evaluate(*t) as u8);
            *byte == predicted
        };
        if !is_predicted || !memory.iter().all(is_byte_predicted) {
            return WitnessResult::False;
        }
        ended.push(told(&end, half, shared));
        after.push(memory);
    }
    let names = Names { shared, version: halves[1].version, function: halves[1].function };
    let (mut good, mut bad) = (after.swap_remove(0), after.swap_remove(0));
    let differing: BTreeSet<Place> =
        good.keys().chain(bad.keys()).filter(|p| good.get(p) != bad.get(p)).copied().collect();
    // The complete value that contains the byte.
    let is_part = |place: &Place| {
        let whole = names.of(*place).map(|n| n.place);
        differing.contains(place)
            || differing.iter().any(|d| whole.is_some() && names.of(*d).map(|n| n.place) == whole)
    };
    good.retain(|place, _| is_part(place));
    bad.retain(|place, _| is_part(place));
    let pairs = words(names, &good).into_iter().zip(words(names, &bad));
    let has_both = good.len() == bad.len();
    let differences =
        pairs.filter(|_| has_both).map(|((path, good), (_, bad))| Difference { path, good, bad }).collect();
    let [good, bad] = [ended.swap_remove(0), ended.swap_remove(0)];
    WitnessResult::True { ended: [good, bad], differences }
}

fn told(ended: &Ended, half: &Half<'_, '_>, shared: &Shared) -> String {
    match ended {
        Ended::Returned(word) => match &half.path.end {
            End::Returned(results) if !results.is_empty() => {
                let width = shared.pool.width(results[0]).min(64);
                let bits = u128::from(*word) & (u128::MAX >> (128 - width));
                format!("returns {}", number(bits, half.function.result().as_ref(), width))
            }
            _ => "returns".to_owned(),
        },
        Ended::Signal(6) => "ends with abort".to_owned(),
        Ended::Signal(n) => format!("ends with {}", crate::watch::signal_name(*n)),
        Ended::Exit(status) => format!("ends with exit {status}"),
    }
}

/// Runs the call in one version. Returns how it terminated and, if it returned, the bytes afterwards.
fn call(
    shared: &Shared,
    half: &Half<'_, '_>,
    before: &BTreeMap<Place, u8>,
    value: Value<'_>,
) -> Result<(Ended, BTreeMap<Place, u8>), String> {
    let program = half.program.ok_or("its program is not there")?;
    let mut asked = WitnessRequest { version: half.version, modules: Vec::new(), records: Vec::new() };
    let mut pages: BTreeSet<u64> = BTreeSet::new();
    let mut reads = Vec::new();
    for (place, byte) in before {
        let at = match shared.of(place.0) {
            Region::Frame(_) => continue,
            Region::Global(name) => match asked.global(name) {
                Some(at) => [at.0, at.1, at.2.wrapping_add(place.1.cast_unsigned())],
                // A variable that this version does not have.
                None => continue,
            },
            Region::Parameter(_) | Region::PointerTarget(_) => {
                if place.1.unsigned_abs() >= ROOM / 2 - PAGE {
                    return Err("it needs memory that is far from a pointer".to_owned());
                }
                let address = home(place.0).wrapping_add(place.1.cast_unsigned());
                pages.insert(address / PAGE);
                [0, 0, address]
            }
        };
        wire::record(&mut asked.records, wire::WRITE, at, &[*byte]);
        reads.push((*place, at));
    }
    for parameter in &half.function.parameters {
        let number =
            shared.variables.iter().position(|(v, _)| *v == Variable::Parameter(parameter.name.clone()));
        let number = number.ok_or("a parameter has no value")?;
        let word = extended(value(number as u32), &parameter.ty, shared.variables[number].1);
        wire::record(&mut asked.records, wire::ARGUMENT, [word, 0, 0], &[]);
    }
    if half.function.parameters.len() > wire::MAX_ARGUMENTS {
        return Err("it has many parameters".to_owned());
    }
    let function = asked.function(half.function).ok_or("its address is not known")?;
    wire::record(&mut asked.records, wire::CALL, function, &[]);
    for (_, at) in &reads {
        wire::record(&mut asked.records, wire::READ, *at, &1u64.to_le_bytes());
    }
    let mut file = wire::MAGIC.to_vec();
    if asked.modules.len() > wire::MAX_MODULES {
        return Err("it uses variables of many modules".to_owned());
    }
    for id in &asked.modules {
        wire::record(&mut file, wire::MODULE, [0; 3], id);
    }
    for page in pages {
        wire::record(&mut file, wire::MAP, [page * PAGE, PAGE, 0], &[]);
    }
    file.extend(&asked.records);
    let (status, appended) =
        start(program, &file).map_err(|e| format!("its program could not be started: {e}"))?;
    let begun = appended.strip_prefix(&wire::CALL.to_le_bytes());
    let appended = begun.ok_or("its program ended before the call")?;
    if let Some((result, bytes)) = appended.split_at_checked(8)
        && bytes.len() == reads.len()
    {
        let word = result.try_into().map_or(0, u64::from_le_bytes);
        let memory = reads.iter().map(|(place, _)| *place).zip(bytes.iter().copied()).collect();
        return Ok((Ended::Returned(word), memory));
    }
    let ended = match (status.signal(), status.code()) {
        (Some(number), _) => Ended::Signal(number.cast_unsigned()),
        (_, Some(code)) => Ended::Exit(code.cast_unsigned()),
        _ => return Err("its program was lost".to_owned()),
    };
    Ok((ended, BTreeMap::new()))
}

/// An argument as it is passed: small integers are extended according to their type.
fn extended(bits: u128, ty: &Type<'_>, width: u32) -> u64 {
    let signed =
        matches!(ty.shape(), Shape::Integer { signed: true, .. } | Shape::Character { signed: true });
    let word = bits as u64;
    if !signed || width >= 64 {
        return word;
    }
    let unused = 64 - width;
    ((word << unused).cast_signed() >> unused).cast_unsigned()
}

/// A request to a program, under construction.
struct WitnessRequest<'a, 'm> {
    version: &'a Version<'m>,
    modules: Vec<[u8; 16]>,
    records: Vec<u8>,
}

impl WitnessRequest<'_, '_> {
    fn module(&mut self, index: u32) -> u64 {
        let id = self.version.image.module(index).id;
        let known = self.modules.iter().position(|m| *m == id);
        let number = known.unwrap_or_else(|| {
            self.modules.push(id);
            self.modules.len() - 1
        });
        number as u64 + 1
    }

    /// Module and symbol of a global variable, and an offset.
    fn global(&mut self, name: &str) -> Option<(u64, u64, u64)> {
        let address = self.version.globals[self.version.global(name)?].address;
        let found = self.version.image.modules().find_map(|(index, loaded)| {
            let symbol = loaded.addresses.iter().position(|at| *at == address)?;
            Some((index, symbol))
        });
        let (index, symbol) = found?;
        Some((self.module(index), symbol as u64, 0))
    }

    fn function(&mut self, function: &ObservedFunction<'_>) -> Option<[u64; 3]> {
        let symbols = &function.model.symbols;
        let symbol = symbols.iter().position(|s| s.kind == SymbolKind::Function(function.number))?;
        Some([self.module(function.module), symbol as u64, 0])
    }
}

/// Starts a program with a request file. Returns its status, and what it appended to the file.
fn start(program: &Program, file: &[u8]) -> std::io::Result<(ExitStatus, Vec<u8>)> {
    let asked = tempfile::NamedTempFile::new()?;
    std::fs::write(asked.path(), file)?;
    let mut command = Command::new(&program.executable);
    command.arg0(&program.name).env("RELAPSE_WITNESS", asked.path()).env_remove("RELAPSE_RECORD_DIR");
    if let Ok(libraries) = std::env::join_paths(&program.libraries)
        && !program.libraries.is_empty()
    {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    command.current_dir(&program.directory).process_group(0);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let deadline = Instant::now() + DEFAULT_TIMEOUT;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::other("it did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut all = std::fs::read(asked.path())?;
    Ok((status, all.split_off(file.len().min(all.len()))))
}
