//! The always-inline functions that instrumentation calls, as IR text.
//!
//! They are external here so that linking finds them, and made internal afterwards. They are
//! generated on demand (one check per width, one call epilogue per number of slots), parsed and
//! linked into the unit, and inlined by the optimiser. They are written as IR text for readability.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Collects the helpers a unit needs.
#[derive(Default)]
pub struct Helpers {
    texts: BTreeMap<String, String>,
}

/// Offsets in the context; see docs/runtime-interface.md.
pub const KEY: u64 = 0;
pub const TIME: u64 = 8;
pub const SUM: u64 = 16;
pub const STACK: u64 = 24;
pub const VA: u64 = 32;
pub const TICKED: u64 = 40;

/// The runtime's interface. The miss hook accesses only its arguments and its own memory, so the
/// optimiser may keep the program's values in registers across it. It must not be bound lazily: at
/// the first call from a shared library the dynamic linker would run, which preserves only the
/// registers of the C convention.
const DECLARATIONS: &str = "\
@__relapse_tls = external thread_local(initialexec) global { i64, ptr }
@__relapse_module = external global i8
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)
declare preserve_mostcc void @__relapse_miss(ptr, ptr, i64, i64, ptr, i64) cold nounwind nonlazybind memory(argmem: readwrite, inaccessiblemem: readwrite)
declare void @__relapse_miss_wide(ptr, ptr, i64, i64, ptr, ptr) cold nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)
declare void @__relapse_external(ptr, ptr, ptr, ptr, ptr) cold
declare void @__relapse_enter(ptr, ptr) cold
declare void @__relapse_leave(ptr) cold
declare void @__relapse_tls_addr(ptr, ptr, i64, ptr) cold
declare void @__relapse_register(ptr)
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 0, ptr @__relapse_start, ptr null }]
define void @__relapse_start() {
  call void @__relapse_register(ptr @__relapse_module)
  ret void
}
";

/// Branch weights of the unlikely edge.
const WEIGHTS: &str = "!0 = !{!\"branch_weights\", i32 1, i32 100000}\n";

impl Helpers {
    fn add(&mut self, name: &str, text: impl FnOnce() -> String) -> String {
        if !self.texts.contains_key(name) {
            self.texts.insert(name.to_owned(), text());
        }
        name.to_owned()
    }

    /// `(ctx, time, shadow address, value, size << 32 | site)`: compares a loaded value of `bits`
    /// bits with the shadow.
    pub fn check(&mut self, bits: u32) -> String {
        let name = format!("__relapse_check.{bits}");
        self.add(&name, || {
            let miss = if bits <= 64 {
                let wide = if bits < 64 {
                    format!("%wide = zext i{bits} %value to i64\n")
                } else {
                    "%wide = add i64 %value, 0\n".to_owned()
                };
                format!(
                    "{wide}call preserve_mostcc void @__relapse_miss(ptr %ctx, ptr @__relapse_module, \
                     i64 %site, i64 %time, ptr %shadow, i64 %wide)\n"
                )
            } else {
                format!(
                    "%slot = alloca i128, align 16\n%wide = zext i{bits} %value to i136\n\
                     %low = trunc i136 %wide to i128\nstore i128 %low, ptr %slot, align 16\n\
                     call void @__relapse_miss_wide(ptr %ctx, ptr @__relapse_module, i64 %site, \
                     i64 %time, ptr %shadow, ptr %slot)\n"
                )
            };
            format!(
                "define void @__relapse_check.{bits}(ptr %ctx, i64 %time, ptr %shadow, \
                 i{bits} %value, i64 %site) alwaysinline {{\n\
                 %seen = load i{bits}, ptr %shadow, align 1\n%differs = icmp ne i{bits} %seen, %value\n\
                 br i1 %differs, label %miss, label %done, !prof !0\n\
                 miss:\n{miss}br label %done\ndone:\nret void\n}}\n"
            )
        })
    }

    /// `(fn desc, self, slots...) -> linked`: the entry protocol.
    pub fn begin(&mut self, slots: usize) -> String {
        let name = format!("__relapse_begin.{slots}");
        self.add(&name, || {
            let mut t = format!("define i1 @__relapse_begin.{slots}(ptr %desc, ptr %self");
            parameters(&mut t, "a", slots);
            t.push_str(
                ") alwaysinline {\n\
                 %tls = call ptr @llvm.threadlocal.address.p0(ptr @__relapse_tls)\n\
                 %call = load i64, ptr %tls, align 8\n%me = ptrtoint ptr %self to i64\n\
                 %foreign = icmp ne i64 %call, %me\n\
                 br i1 %foreign, label %outside, label %done, !prof !0\noutside:\n",
            );
            spill(&mut t, "args", "a", slots);
            t.push_str(
                "call void @__relapse_enter(ptr %desc, ptr %args)\nbr label %done\ndone:\n\
                 store i64 0, ptr %tls, align 8\n%linked = xor i1 %foreign, true\nret i1 %linked\n}\n",
            );
            t
        })
    }

    /// `(linked, fn desc)`: the return protocol.
    pub fn end(&mut self) -> String {
        self.add("__relapse_end", || {
            "define void @__relapse_end(i1 %linked, ptr %desc) alwaysinline {\n\
             br i1 %linked, label %done, label %outside\noutside:\n\
             call void @__relapse_leave(ptr %desc)\nbr label %done\ndone:\nret void\n}\n"
                .to_owned()
        })
    }

    /// `() -> ctx` of the current thread.
    pub fn context(&mut self) -> String {
        self.add("__relapse_context", || {
            "define ptr @__relapse_context() alwaysinline {\n\
             %tls = call ptr @llvm.threadlocal.address.p0(ptr @__relapse_tls)\n\
             %at = getelementptr i8, ptr %tls, i64 8\n%ctx = load ptr, ptr %at, align 8\nret ptr %ctx\n}\n"
                .to_owned()
        })
    }

    /// `(target)`: announces a call.
    pub fn announce(&mut self) -> String {
        self.add("__relapse_announce", || {
            "define void @__relapse_announce(ptr %target) alwaysinline {\n\
             %tls = call ptr @llvm.threadlocal.address.p0(ptr @__relapse_tls)\n\
             %t = ptrtoint ptr %target to i64\nstore i64 %t, ptr %tls, align 8\nret void\n}\n"
                .to_owned()
        })
    }

    /// `(ctx, call desc, target, slots..., result slots...)`: after a call, calls the runtime if no
    /// instrumented callee accepted the call.
    pub fn after(&mut self, args: usize, results: usize) -> String {
        let name = format!("__relapse_after.{args}.{results}");
        self.add(&name, || {
            let mut t =
                format!("define void @__relapse_after.{args}.{results}(ptr %ctx, ptr %desc, ptr %target");
            parameters(&mut t, "a", args);
            parameters(&mut t, "r", results);
            t.push_str(
                ") alwaysinline {\n\
                 %tls = call ptr @llvm.threadlocal.address.p0(ptr @__relapse_tls)\n\
                 %call = load i64, ptr %tls, align 8\n%external = icmp ne i64 %call, 0\n\
                 br i1 %external, label %outside, label %done\noutside:\n",
            );
            spill(&mut t, "args", "a", args);
            spill(&mut t, "result", "r", results);
            t.push_str(
                "call void @__relapse_external(ptr %ctx, ptr %desc, ptr %target, ptr %args, ptr %result)\n\
                 br label %done\ndone:\nret void\n}\n",
            );
            t
        })
    }

    /// `(ctx, site desc, time, address, guard)`: logs the address of a
    /// thread-local variable once per stream.
    pub fn thread_local(&mut self) -> String {
        self.add("__relapse_tls_check", || {
            "define void @__relapse_tls_check(ptr %ctx, ptr %desc, i64 %time, ptr %p, ptr %guard) \
             alwaysinline {\n%seen = load ptr, ptr %guard, align 8\n%new = icmp ne ptr %seen, %ctx\n\
             br i1 %new, label %first, label %done, !prof !0\nfirst:\n\
             store ptr %ctx, ptr %guard, align 8\n\
             call void @__relapse_tls_addr(ptr %ctx, ptr %desc, i64 %time, ptr %p)\n\
             br label %done\ndone:\nret void\n}\n"
                .to_owned()
        })
    }

    pub fn text(&self) -> String {
        let mut all = DECLARATIONS.to_owned();
        for t in self.texts.values() {
            all.push_str(t);
        }
        all + WEIGHTS
    }
}

fn parameters(t: &mut String, prefix: &str, n: usize) {
    for i in 0..n {
        let _ = write!(t, ", i64 %{prefix}{i}");
    }
}

/// Stores `n` slots into an array on the machine stack.
fn spill(t: &mut String, array: &str, prefix: &str, n: usize) {
    let _ = writeln!(t, "%{array} = alloca [{} x i64], align 16", n.max(1));
    for i in 0..n {
        let _ = writeln!(t, "%{array}{i} = getelementptr i64, ptr %{array}, i64 {i}");
        let _ = writeln!(t, "store i64 %{prefix}{i}, ptr %{array}{i}, align 8");
    }
}
