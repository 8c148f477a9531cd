//! The text output of `relapse contract`.

use crate::Session;
use crate::failure::Failure;
use crate::render::counted;
use contract::answer::{
    Answer, CallPlace, Counted, FunctionAnswer, Proof, ProofStatus, Verdict, ViolationAnswer,
};
use contract::moment::Shown;
use std::io::Write;

/// The number of functions with satisfied contracts that are named.
const NAMED: usize = 12;

pub fn write(session: &mut Session, answer: &Answer) -> Result<(), Failure> {
    let paint = session.paint;
    let of = |verdict: Verdict| answer.functions.iter().filter(move |f| f.verdict == verdict);
    let pairs: u64 = answer.functions.iter().map(|f| f.counted.pairs()).sum();
    let checked = counted(answer.functions.len() as u64, "function");
    let (own, following): (Vec<&FunctionAnswer>, Vec<&FunctionAnswer>) = of(Verdict::Violated)
        .partition(|f| f.violated == 0 || f.violations.iter().any(|v| v.follows.is_none()));
    let has_contracts = answer.functions.iter().any(|f| f.contract.is_some());
    let violated = own.len() as u64;
    let headline = match answer.verdict {
        Verdict::Holds if has_contracts => paint.good("the change is as its contracts say"),
        Verdict::Holds => paint.good("nothing changed"),
        Verdict::Violated if has_contracts => paint
            .bad(format!("{} not as the contracts say", plural(violated, "function is", "functions are"))),
        Verdict::Violated => {
            paint.bad(format!("{} changed", plural(violated, "function has", "functions have")))
        }
        Verdict::Unknown => paint.bad("no violation was found, but not everything could be compared"),
    };
    writeln!(session.out, "{headline}: {checked}, {} of calls compared", counted(pairs, "pair"))?;
    for f in own {
        function(session, answer, f)?;
    }
    if !following.is_empty() {
        writeln!(session.out)?;
        for f in following {
            let from = f.violations.iter().find_map(|v| v.follows.as_deref()).unwrap_or_default();
            writeln!(session.out, "{} differs too: it calls {from}", paint.name(&f.name))?;
        }
    }
    for f in of(Verdict::Unknown) {
        function(session, answer, f)?;
    }
    let holding: Vec<&FunctionAnswer> = of(Verdict::Holds).collect();
    let (with, without): (Vec<&FunctionAnswer>, Vec<&FunctionAnswer>) =
        holding.into_iter().partition(|f| f.contract.is_some());
    for f in with {
        function(session, answer, f)?;
    }
    match without.as_slice() {
        [] => {}
        few if few.len() <= 3 => {
            for f in few {
                function(session, answer, f)?;
            }
        }
        many => {
            let names: Vec<&str> = many.iter().take(NAMED).map(|f| f.name.as_str()).collect();
            let more = many.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(session.out, "\n{} {}{more}", paint.name("unchanged"), names.join(", "))?;
            let is_proved =
                |f: &&&FunctionAnswer| f.proof.as_ref().is_some_and(|p| p.status == ProofStatus::Proved);
            let proved = many.iter().filter(is_proved).count();
            if proved > 0 {
                writeln!(session.out, "{proved} of them proved for all states")?;
            }
        }
    }
    for (what, names) in [("only in good", &answer.only_good), ("only in bad", &answer.only_bad)] {
        if !names.is_empty() {
            writeln!(session.out, "{} {}", paint.name(format!("called {what}:")), names.join(", "))?;
        }
    }
    for note in &answer.notes {
        writeln!(session.out, "{} {note}", paint.faint("note:"))?;
    }
    Ok(())
}

fn function(session: &mut Session, answer: &Answer, f: &FunctionAnswer) -> Result<(), Failure> {
    let paint = session.paint;
    let verdict = match f.verdict {
        Verdict::Holds if f.contract.is_some() => paint.good("as its contract says"),
        Verdict::Holds => paint.good("unchanged"),
        Verdict::Violated if f.violated == 0 => {
            paint.bad("violated from a state that no test comes to".to_owned())
        }
        Verdict::Violated => paint.bad(format!("violated by {}", counted(f.violated, "pair"))),
        Verdict::Unknown => paint.bad("not compared"),
    };
    writeln!(session.out)?;
    writeln!(session.out, "{} ({})  {verdict}", paint.name(&f.name), f.place)?;
    if let Some(contract) = &f.contract {
        writeln!(session.out, "  contract at {contract}")?;
    }
    calls(session, f)?;
    for (n, case) in f.cases.iter().enumerate() {
        if case.applied == 0 {
            let number = if f.cases.len() > 1 { format!("case {} ", n + 1) } else { "the case ".to_owned() };
            writeln!(
                session.out,
                "  {} {number}at {} is vacuous: it applied to no pair of calls",
                paint.bad("warning:"),
                case.place
            )?;
        } else if f.cases.len() > 1 {
            writeln!(
                session.out,
                "  case {} at {} applied to {}",
                n + 1,
                case.place,
                counted(case.applied, "pair")
            )?;
        }
    }
    for v in &f.violations {
        violation(session, answer, v)?;
    }
    if let Some(told) = f.proof.as_ref().filter(|_| f.violated == 0).and_then(proof) {
        told.iter().try_for_each(|line| writeln!(session.out, "  {line}"))?;
    }
    let told: u64 = f.violations.len() as u64;
    if f.violated > told {
        writeln!(session.out, "  and {} more", counted(f.violated - told, "pair"))?;
    }
    if f.untold > 0 {
        writeln!(
            session.out,
            "  of {} something could not be told: {}",
            counted(f.untold, "pair"),
            f.untold_why.join("; ")
        )?;
    }
    Ok(())
}

/// The result of the proof over all states, in lines.
fn proof(proof: &Proof) -> Option<Vec<String>> {
    match proof.status {
        ProofStatus::Proved => {
            let [good, bad] = proof.paths;
            let ways = format!("{} in good, {} in bad", counted(good, "path"), counted(bad, "path"));
            let given = proof.assumes.join(", and ");
            let given = if given.is_empty() { given } else { format!("; given that {given}") };
            Some(vec![format!("proved for all states: {ways}{given}")])
        }
        ProofStatus::Refuted => {
            let mut lines = vec![
                "counterexample: a state that no test comes to; both versions were run from it".to_owned(),
                format!("called with {}", values(&proof.state)),
            ];
            match &proof.ended {
                Some([good, bad]) if good == bad => lines.push(format!("both: {good}")),
                Some([good, bad]) => lines.extend([format!("good: {good}"), format!("bad:  {bad}")]),
                None => {}
            }
            let differing = proof.differences.iter();
            lines.extend(differing.map(|d| format!("{}: {} in good, {} in bad", d.path, d.good, d.bad)));
            Some(lines)
        }
        ProofStatus::Unconfirmed => Some(vec![
            format!(
                "undecided: the solver found a state in which it does not hold, but it was not run: {}",
                proof.why
            ),
            format!("called with {}", values(&proof.state)),
        ]),
        ProofStatus::Open if proof.why.is_empty() => None,
        ProofStatus::Open => Some(vec![format!("not proved for all states: {}", proof.why)]),
    }
}

/// The number of compared calls, and why others were left out.
fn calls(session: &mut Session, f: &FunctionAnswer) -> Result<(), Failure> {
    let Counted { by_index, by_state, differing, only_good, only_bad, passed_over, truncated, .. } =
        &f.counted;
    let by = match (by_index, by_state) {
        (_, 0) => String::new(),
        (0, _) => ", paired by their entry states".to_owned(),
        (_, n) => format!(", {n} of them paired by their entry states"),
    };
    writeln!(
        session.out,
        "  {} in good, {} in bad; {} counted{by}",
        counted(f.calls[0], "call"),
        counted(f.calls[1], "call"),
        counted(by_index + by_state, "pair"),
    )?;
    if *differing > 0 {
        let first = match (&f.counted.first_difference, &f.counted.first_differing_call) {
            (Some(d), Some(call)) => {
                format!("; in call {} {} is {} in good, {} in bad", call.numbers[1], d.path, d.good, d.bad)
            }
            _ => String::new(),
        };
        let noun = plural(*differing, "pair does", "pairs do");
        writeln!(session.out, "  {noun} not count, as the entry states differ{first}")?;
    }
    for (n, version) in [(*only_good, "good"), (*only_bad, "bad")] {
        if n > 0 {
            let has = if n == 1 { "has" } else { "have" };
            writeln!(session.out, "  {} of {version} {has} no partner", counted(n, "call"))?;
        }
    }
    for (n, version) in passed_over.iter().zip(["good", "bad"]) {
        if *n > 0 {
            writeln!(
                session.out,
                "  {} of {version} not looked at (--calls, --memory)",
                counted(*n, "call")
            )?;
        }
    }
    if *truncated > 0 {
        writeln!(
            session.out,
            "  of {} the states were compared in part: they are large",
            counted(*truncated, "pair")
        )?;
    }
    Ok(())
}

fn violation(session: &mut Session, answer: &Answer, v: &ViolationAnswer) -> Result<(), Failure> {
    let paint = session.paint;
    match (&v.clause, &v.text) {
        (Some(place), Some(text)) => {
            writeln!(session.out, "  {} {place}: {text}", paint.bad("violated"))?;
            writeln!(session.out, "    {}", v.what)?;
        }
        _ => writeln!(session.out, "  {} {}", paint.bad("changed:"), v.what)?,
    }
    writeln!(session.out, "    in {}", call(answer, &v.call))?;
    if !v.entry.is_empty() {
        writeln!(session.out, "    called with {}", values(&v.entry))?;
    }
    if v.good == v.bad && v.good == "returns" {
        // Nothing to report.
    } else if v.good == v.bad {
        writeln!(session.out, "    both: {}", v.good)?;
    } else {
        writeln!(session.out, "    good: {}", v.good)?;
        writeln!(session.out, "    bad:  {}", v.bad)?;
    }
    if !v.values.is_empty() {
        writeln!(session.out, "    where {}", values(&v.values))?;
    }
    for d in v.differences.iter().filter(|d| d.path != "\\result") {
        writeln!(session.out, "    {}: {} in good, {} in bad", d.path, d.good, d.bad)?;
    }
    if let Some(from) = &v.follows {
        writeln!(session.out, "    {from}, which it calls, differs by itself")?;
    }
    Ok(())
}

fn values(shown: &[Shown]) -> String {
    shown.iter().map(|s| format!("{} = {}", s.expression, s.value)).collect::<Vec<_>>().join(", ")
}

/// A call's number and its location in the run.
fn call(answer: &Answer, call: &CallPlace) -> String {
    let [good, bad] = call.numbers;
    let number =
        if good == bad { format!("call {bad}") } else { format!("call {bad} (call {good} in good)") };
    let from = match (&call.caller, &call.place) {
        (Some(caller), Some(place)) => format!(" from {caller} ({place})"),
        _ => String::new(),
    };
    let test = match answer.tests.get(call.test) {
        Some(test) if answer.tests.len() > 1 => format!(" of {}", test.command),
        _ => String::new(),
    };
    format!("{number}{from}{test}")
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
