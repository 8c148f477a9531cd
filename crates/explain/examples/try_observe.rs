use explain::align::Side;
use explain::observe::{Run, RunOutput, Sinks, observe};
use recording::Recording;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

fn run(dir: &Path, test: &str, timeout: bool) -> (Recording, RunOutput) {
    let rec = dir.join("rec");
    let _ = std::fs::remove_dir_all(&rec);
    let out = Command::new("/tmp/target-lead/release/relapse")
        .args(["record", "--quiet", "-o"])
        .arg(&rec)
        .args(["--", "sh", "-c", test])
        .current_dir(dir)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    use std::os::unix::process::ExitStatusExt;
    let mut files = std::collections::BTreeMap::new();
    if let Ok(t) = std::fs::read(dir.join("out.txt")) {
        files.insert("out.txt".to_owned(), t);
    }
    let timed_out = timeout && matches!(out.status.code(), Some(137) | Some(124));
    let o = RunOutput {
        exit: out.status.code(),
        signal: out.status.signal(),
        timed_out,
        stdout: out.stdout,
        stderr: out.stderr,
        files,
    };
    (Recording::open(&rec).unwrap(), o)
}

fn lcs(good: &[&str], bad: &[&str]) -> HashMap<u32, u32> {
    let (n, m) = (good.len(), bad.len());
    let mut t = vec![vec![0u32; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            t[i][j] = if good[i] == bad[j] { t[i + 1][j + 1] + 1 } else { t[i + 1][j].max(t[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut map = HashMap::new();
    while i < n && j < m {
        if good[i] == bad[j] {
            map.insert(j as u32 + 1, i as u32 + 1);
            i += 1;
            j += 1;
        } else if t[i + 1][j] >= t[i][j + 1] {
            i += 1
        } else {
            j += 1
        }
    }
    map
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (good, bad) = (Path::new(&a[1]).canonicalize().unwrap(), Path::new(&a[2]).canonicalize().unwrap());
    let timeout = a.get(4).is_some();
    let (gr, go) = run(&good, &a[3], timeout);
    let (br, bo) = run(&bad, &a[3], timeout);
    let mut maps: HashMap<String, HashMap<u32, u32>> = HashMap::new();
    for e in std::fs::read_dir(&bad).unwrap() {
        let name = e.unwrap().file_name().into_string().unwrap();
        if !(name.ends_with(".c") || name.ends_with(".h")) {
            continue;
        }
        let g = std::fs::read_to_string(good.join(&name)).unwrap_or_default();
        let b = std::fs::read_to_string(bad.join(&name)).unwrap_or_default();
        maps.insert(name, lcs(&g.lines().collect::<Vec<_>>(), &b.lines().collect::<Vec<_>>()));
    }
    let map = |f: &str, l: u32| Some((f.to_owned(), *maps.get(f)?.get(&l)?));
    let t = std::time::Instant::now();
    let o = observe(
        Run { recording: Some(&gr), root: &good, output: &go },
        Run { recording: Some(&br), root: &bad, output: &bo },
        &map,
        Sinks::default(),
    );
    match o {
        Err(e) => println!("ERROR failed to {e}"),
        Ok(o) => {
            println!("[{}] {}", o.observation.kind, o.observation.summary);
            let p = |p: &Option<explain::answer::Place>| {
                p.as_ref()
                    .map(|p| format!("{}:{}:{} {} `{}`", p.file, p.line, p.column, p.function, p.text.trim()))
            };
            println!("  bad  {:?} {:?}", p(&o.observation.place), o.criteria);
            println!("  good {:?} {:?}", p(&o.observation.good_place), o.good_criteria);
            println!(
                "  stack {:?}",
                o.observation.stack.iter().map(|p| format!("{}:{}", p.function, p.line)).collect::<Vec<_>>()
            );
            println!(
                "  notes {:?} horizon {:?} step {:?} in {:?}",
                o.notes,
                o.horizon,
                o.observation.step,
                t.elapsed()
            );
            let mut process =
                replay::process::LoadedProcess::load(&br, &br.processes[o.process], &Default::default())
                    .unwrap();
            o.prepare(&mut process);
            for c in &o.criteria {
                let s = &process.streams[c.at.stream as usize];
                let mut m = replay::machine::Machine::new(&process.image, &s.stream);
                m.run(&mut replay::observer::Null, c.at.step).unwrap();
                match m.view() {
                    Some(v) => println!("  at {}:{}: {}", v.function().name, v.place().line, v.inst()),
                    None => println!("  at nothing"),
                }
            }
        }
    }
    let _ = Side::Good;
}
