//! Random records laid out by us and by gcc, in both data models.

mod common;

use common::{MODELS, Rng, check, elf, gcc_accepts, have_gcc, image_bytes};
use palisade_c_types::tast::TypedProgram;
use palisade_c_types::types::{CType, RecordType};
use palisade_cfa::DataModel;
use std::fmt::Write as _;

const RECORDS: usize = 400;

/// What a member of a generated record is, as far as its initialiser matters.
#[derive(Clone)]
enum Shape {
    Int,
    Float,
    Pointer,
    Array(usize, Box<Shape>),
    Record(usize),
}

#[derive(Clone)]
struct Member {
    name: String,
    shape: Shape,
}

struct Record {
    keyword: &'static str,
    members: Vec<Member>,
    /// Whether other records may contain it.
    reusable: bool,
}

const PRELUDE: &str = "
enum small { SMALL_A, SMALL_B } ;
enum negative { NEGATIVE = -3 };
enum wide { WIDE = 0x100000000LL };
enum __attribute__((packed)) packed_enum { PACKED = 200 };
typedef int over __attribute__((aligned(16)));
typedef long long under __attribute__((aligned(2)));
typedef double unaligned __attribute__((aligned(1)));
typedef int di __attribute__((mode(DI)));
struct empty {};
";

const INTS: [&str; 16] = [
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "_Bool",
    "enum small",
    "enum negative",
    "enum packed_enum",
    "enum wide",
];

struct Generator {
    rng: Rng,
    model: DataModel,
    records: Vec<Record>,
    text: String,
}

impl Generator {
    fn scalar(&mut self) -> (String, Shape) {
        match self.rng.below(12) {
            0 => ("float".into(), Shape::Float),
            1 => ("double".into(), Shape::Float),
            2 => ("long double".into(), Shape::Float),
            3 => ("void *".into(), Shape::Pointer),
            4 => (self.rng.pick(&["over", "under", "di"]).into(), Shape::Int),
            5 => ("unaligned".into(), Shape::Float),
            6 if self.model == DataModel::Lp64 => ("__int128".into(), Shape::Int),
            _ => (self.rng.pick(&INTS).into(), Shape::Int),
        }
    }

    fn attributes(&mut self) -> String {
        match self.rng.below(10) {
            0 => " __attribute__((packed))".into(),
            1 => format!(" __attribute__((aligned({})))", 1 << self.rng.below(6)),
            2 => format!(" __attribute__((packed, aligned({})))", 1 << self.rng.below(4)),
            _ => String::new(),
        }
    }

    fn member(&mut self, name: String, out: &mut String) -> Option<Member> {
        if self.rng.one_in(3) {
            return self.bit_field(name, out);
        }
        let nested: Vec<usize> = (0..self.records.len()).filter(|&i| self.records[i].reusable).collect();
        let (mut ty, mut shape) = if !nested.is_empty() && self.rng.one_in(5) {
            let i = nested[self.rng.below(nested.len())];
            (format!("{} r{i}", self.records[i].keyword), Shape::Record(i))
        } else {
            self.scalar()
        };
        let mut suffix = String::new();
        if self.rng.one_in(4) && ty != "over" {
            let n = self.rng.below(4);
            suffix = format!("[{n}]");
            shape = Shape::Array(n, Box::new(shape));
        }
        if self.rng.one_in(20) && !ty.contains("over") {
            ty = format!("_Alignas(32) {ty}");
        }
        let attributes = self.attributes();
        writeln!(out, "  {ty} {name}{suffix}{attributes};").unwrap();
        Some(Member { name, shape })
    }

    fn bit_field(&mut self, name: String, out: &mut String) -> Option<Member> {
        let ty = self.rng.pick(&INTS);
        let bits = match (ty, self.model) {
            ("_Bool", _) => 1,
            ("char" | "signed char" | "unsigned char" | "enum packed_enum", _) => 8,
            ("short" | "unsigned short", _) => 16,
            ("int" | "unsigned" | "enum small" | "enum negative", _) => 32,
            ("long" | "unsigned long", DataModel::Ilp32) => 32,
            _ => 64,
        };
        if self.rng.one_in(6) {
            let width = if self.rng.one_in(2) { 0 } else { 1 + self.rng.below(bits) };
            writeln!(out, "  {ty} : {width};").unwrap();
            return None;
        }
        let width = 1 + self.rng.below(bits);
        let attributes = if self.rng.one_in(4) { self.attributes() } else { String::new() };
        writeln!(out, "  {ty} {name} : {width}{attributes};").unwrap();
        Some(Member { name, shape: Shape::Int })
    }

    fn record(&mut self) {
        let index = self.records.len();
        let keyword = if self.rng.one_in(4) { "union" } else { "struct" };
        let pack = self.rng.one_in(8);
        if pack {
            writeln!(self.text, "#pragma pack(push, {})", 1 << self.rng.below(4)).unwrap();
        }
        let mut body = String::new();
        let mut members = Vec::new();
        for i in 0..1 + self.rng.below(7) {
            if self.rng.one_in(12) {
                // An anonymous member: its members count as ours.
                let inner = self.rng.pick(&["struct", "union"]);
                writeln!(body, "  {inner} {{").unwrap();
                for j in 0..1 + self.rng.below(3) {
                    members.extend(self.member(format!("m{i}_{j}"), &mut body));
                }
                let attributes = self.attributes();
                writeln!(body, "  }}{attributes};").unwrap();
                continue;
            }
            members.extend(self.member(format!("m{i}"), &mut body));
        }
        let flexible = keyword == "struct" && !members.is_empty() && self.rng.one_in(12);
        if flexible {
            let (ty, _) = self.scalar();
            if ty != "over" {
                writeln!(body, "  {ty} flexible[];").unwrap();
            }
        }
        let attributes = self.attributes();
        writeln!(self.text, "{keyword} r{index} {{\n{body}}}{attributes};").unwrap();
        if pack {
            writeln!(self.text, "#pragma pack(pop)").unwrap();
        }
        self.records.push(Record { keyword, members, reusable: !flexible });
    }

    /// A random initialiser of a part.
    fn initialiser(&mut self, shape: &Shape, depth: usize) -> String {
        match shape {
            Shape::Int => format!("{}", self.rng.bits() as i64 >> self.rng.below(64)),
            Shape::Float => {
                format!("{}.{}e{}", self.rng.below(1000), self.rng.below(100), self.rng.below(20))
            }
            Shape::Pointer => format!("(void *){}", self.rng.below(1 << 20)),
            Shape::Array(n, elem) => {
                let mut items = Vec::new();
                for i in 0..*n {
                    if self.rng.one_in(2) {
                        items.push(format!("[{i}] = {}", self.initialiser(elem, depth)));
                    }
                }
                format!("{{ {} }}", items.join(", "))
            }
            Shape::Record(i) => self.record_initialiser(*i, depth + 1),
        }
    }

    fn record_initialiser(&mut self, index: usize, depth: usize) -> String {
        let record = &self.records[index];
        // In a union only one member counts; gcc warns about the others.
        let union = record.keyword == "union";
        let members = record.members.clone();
        let mut items = Vec::new();
        if depth < 5 && !members.is_empty() {
            let chosen = self.rng.below(members.len());
            for (i, member) in members.iter().enumerate() {
                // Empty braces for a zero-length member of an anonymous union are a matter of taste.
                let empty = matches!(member.shape, Shape::Array(0, _));
                if !empty && if union { i == chosen } else { self.rng.one_in(2) } {
                    let value = self.initialiser(&member.shape, depth);
                    items.push(format!(".{} = {value}", member.name));
                }
            }
        }
        format!("{{ {} }}", items.join(", "))
    }
}

fn find<'p>(program: &'p TypedProgram, names: &palisade_c_syntax::Interner, tag: &str) -> &'p RecordType {
    let found = program.types.records.iter().find(|r| r.tag.is_some_and(|t| names.name(t) == tag));
    found.unwrap_or_else(|| panic!("{tag} was declared"))
}

/// The members of a record with their offsets, those of anonymous members too.
fn members(
    program: &TypedProgram,
    record: &RecordType,
    base: u64,
    out: &mut Vec<(palisade_c_syntax::Symbol, u64, Option<palisade_cfa::BitRange>)>,
) {
    for field in &record.fields {
        match (field.name, program.types.get(field.ty.ty)) {
            (Some(name), _) => out.push((name, base + field.offset, field.bits)),
            (None, CType::Record(id)) => {
                members(program, &program.types.records[id], base + field.offset, out);
            }
            _ => panic!("only records are anonymous members"),
        }
    }
}

#[test]
fn random_records_are_laid_out_as_by_gcc() {
    if !have_gcc() {
        return;
    }
    for (model, seed) in MODELS.into_iter().flat_map(|m| [(m, 0x9e37_79b9_97f4_a7c1), (m, 77)]) {
        let mut generator =
            Generator { rng: Rng(seed), model, records: Vec::new(), text: PRELUDE.to_string() };
        while generator.records.len() < RECORDS {
            generator.record();
        }
        let (program, diags, names) = check(&[&generator.text], model);
        let errors: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{:?}\n{}", errors[0], generator.text);
        let mut assertions = generator.text.clone();
        let mut objects = generator.text.clone();
        let mut expected = Vec::new();
        for (i, record) in generator.records.iter().enumerate() {
            let ty = format!("{} r{i}", record.keyword);
            let laid_out = find(&program, &names, &format!("r{i}"));
            let mut fact = |left: String, right: u64| {
                writeln!(assertions, "_Static_assert({left} == {right}, \"{left}\");").unwrap();
            };
            fact(format!("sizeof({ty})"), laid_out.size);
            fact(format!("_Alignof({ty})"), laid_out.align);
            let mut all = Vec::new();
            members(&program, laid_out, 0, &mut all);
            for (name, offset, bits) in all {
                let name = names.name(name);
                match bits {
                    None => fact(format!("__builtin_offsetof({ty}, {name})"), offset),
                    Some(bits) => {
                        let object = format!("o{i}_{name}");
                        writeln!(objects, "{ty} {object} = {{ .{name} = -1 }};").unwrap();
                        let mut bytes = vec![0u8; laid_out.size as usize];
                        for b in 0..u64::from(bits.width) {
                            let at = offset * 8 + u64::from(bits.first) + b;
                            bytes[at as usize / 8] |= 1 << (at % 8);
                        }
                        expected.push((object, bytes));
                    }
                }
            }
        }
        for ty in ["over", "under", "unaligned", "di", "long long", "double", "long double", "enum wide"] {
            let text =
                format!("{PRELUDE} int s = sizeof({ty}); int a = _Alignof({ty}); int p = __alignof__({ty});");
            let (program, _, _) = check(&[&text], model);
            for (object, operator) in program.objects.iter().zip(["sizeof", "_Alignof", "__alignof__"]) {
                let bytes = image_bytes(&program, object).unwrap();
                writeln!(
                    assertions,
                    "_Static_assert({operator}({ty}) == {}, \"{operator} {ty}\");",
                    bytes[0]
                )
                .unwrap();
            }
        }
        if let Err(message) = gcc_accepts(&assertions, model, "layout") {
            let tag = message.split(" r").nth(1).and_then(|m| m.split([')', ',']).next()).unwrap_or("");
            let from = generator.text.find(&format!(" r{tag} {{")).unwrap_or(0);
            let record = &generator.text[from..].lines().take(30).collect::<Vec<_>>().join("\n");
            panic!("{model:?}: {}\n{record}", message.lines().take(6).collect::<Vec<_>>().join("\n"));
        }
        let compiled = elf::compile(&objects, model, &format!("bits{seed}")).unwrap();
        assert!(expected.len() > 200, "enough bit-fields: {}", expected.len());
        for (object, bytes) in expected {
            assert_eq!(compiled[&object], bytes, "{model:?}: {object}\n{}", generator.text);
        }
    }
}

#[test]
fn random_initialisers_give_the_bytes_that_gcc_gives() {
    if !have_gcc() {
        return;
    }
    for model in MODELS {
        let mut generator = Generator {
            rng: Rng(0x1234_5678_9abc_def1),
            model,
            records: Vec::new(),
            text: PRELUDE.to_string(),
        };
        while generator.records.len() < 200 {
            generator.record();
        }
        let mut text = generator.text.clone();
        for i in 0..generator.records.len() {
            for k in 0..2 {
                let init = generator.record_initialiser(i, 0);
                writeln!(text, "{} r{i} object_{i}_{k} = {init};", generator.records[i].keyword).unwrap();
            }
        }
        let (program, diags, names) = check(&[&text], model);
        let errors: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{:?}\n{text}", errors[0]);
        let compiled = elf::compile(&text, model, "initialisers").unwrap();
        let mut compared = 0;
        for object in &program.objects {
            let Some(name) = object.name.map(|n| names.name(n)) else { continue };
            let ours = image_bytes(&program, object).unwrap();
            let line = text.lines().find(|l| l.contains(name)).unwrap();
            let tag = line.split_whitespace().nth(1).unwrap();
            let from = text.find(&format!(" {tag} {{")).unwrap();
            let record = text[from..].split("\n}").next().unwrap();
            assert_eq!(ours, compiled[name], "{model:?}: {line}\n{record}");
            compared += 1;
        }
        assert_eq!(compared, 400);
    }
}
