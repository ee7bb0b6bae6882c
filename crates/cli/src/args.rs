//! What can be said on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use palisade_cfa::DataModel;
use palisade_domains::{DOMAINS, Domain};
use palisade_lower::{CheckSet, Missing, Options, Pointers};
use palisade_property::{Property, Reading};
use palisade_recheck::source::How;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// A verifier for C: proves that a program cannot go wrong, or shows a run that does.
#[derive(Parser)]
#[command(name = "palisade", version, about)]
pub struct Arguments {
    /// Say on standard error what happens; twice for more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Write a log to a file: what engines do, and the text of internal errors.
    #[arg(long, value_name = "FILE", global = true)]
    pub log: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Settle a property of a program.
    Check(Box<CheckArgs>),
    /// Print what holds at the loop heads of every function.
    Invariants(InvariantsArgs),
    /// Show the control-flow automaton of a program.
    Cfa(CfaArgs),
    /// Execute a program on the reference interpreter.
    Run(RunArgs),
    /// Check a verdict again from the file that `check --certificate` wrote.
    Recheck(RecheckArgs),
    /// Check somebody's witness.
    Validate(ValidateArgs),
    /// Run the embedded solver on an SMT-LIB file.
    Solve(SolveArgs),
    /// List the analyses, one line each.
    Analyses,
    /// Regenerate a paper's table or figure.
    Bench(BenchArgs),
    /// Print what a shell needs to complete the words of this command.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// How to read a program; shared by all commands that do.
#[derive(Args)]
pub struct SourceArgs {
    /// C files; `.i` files are taken as preprocessed, and `-` is the standard input.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Sizes of `long` and pointers.
    #[arg(long, value_enum, ignore_case = true, default_value = "lp64")]
    pub data_model: Model,
    /// The function that is called first.
    #[arg(long)]
    pub entry: Option<String>,
    #[command(flatten)]
    pub preprocessor: PreprocessorArgs,
    #[command(flatten)]
    pub world: WorldArgs,
}

/// What the preprocessor is told.
#[derive(Args, Clone, Default)]
pub struct PreprocessorArgs {
    /// A directory to search for included files.
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// A macro definition.
    #[arg(short = 'D', value_name = "NAME[=V]")]
    pub define: Vec<String>,
    /// A macro that is not defined.
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,
    /// A file that is included before everything else, as for compilers: `-include FILE`.
    #[arg(long = "include", value_name = "FILE")]
    pub include_first: Vec<PathBuf>,
    /// An argument for the preprocessor, as it is.
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub cc_arg: Vec<String>,
    /// The C that the program is written in, as for compilers: `-std=c23`, `-std=gnu17`, ...
    #[arg(long, value_name = "STANDARD")]
    pub std: Option<String>,
}

impl SourceArgs {
    /// One file, and nothing out of the ordinary.
    pub fn file(path: PathBuf, data_model: Model) -> SourceArgs {
        SourceArgs {
            files: vec![path],
            data_model,
            entry: None,
            preprocessor: PreprocessorArgs::default(),
            world: WorldArgs::default(),
        }
    }

    /// How the files are read; `annotated` if annotations count.
    pub fn how(&self, annotated: bool) -> How {
        let PreprocessorArgs { include, define, undefine, include_first, cc_arg, std } = &self.preprocessor;
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut flags: Vec<String> = undefine.iter().map(|name| format!("-U{name}")).collect();
        flags.extend(include_first.iter().flat_map(|file| ["-include".into(), text(file)]));
        flags.extend(cc_arg.iter().cloned());
        How {
            data_model: self.data_model.into(),
            include: include.iter().map(text).collect(),
            define: define.clone(),
            flags,
            std: std.clone(),
            annotations: annotated,
        }
    }

    /// What lowering is asked for a property.
    pub fn options(&self, property: &Property) -> Options {
        let missing = self.world.missing.unwrap_or(match property.reading {
            Reading::Standard => MissingBody::Havoc,
            Reading::Competition => MissingBody::Pure,
        });
        Options {
            checks: property.checks().collect::<CheckSet>(),
            entry: self.entry.clone().unwrap_or_else(|| property.entry.clone()),
            missing: missing.into(),
            malloc_may_fail: self.world.malloc_may_fail,
            // Competitions ask about functions that are called, and not about comments.
            annotations: property.reading == Reading::Standard,
            pointers: match self.world.pointers.unwrap_or(PointerArgs::Valid) {
                PointerArgs::Any => Pointers::Any,
                kind => Pointers::Valid {
                    null: matches!(kind, PointerArgs::Valid),
                    elements: self.world.pointer_size.unwrap_or(Pointers::ELEMENTS),
                },
            },
        }
    }
}

/// What is assumed about the world that the program runs in.
#[derive(Args, Clone, Copy, Default)]
pub struct WorldArgs {
    /// What a function without a body does [default: havoc, or pure with a .prp file].
    #[arg(long, value_enum)]
    pub missing: Option<MissingBody>,
    /// Let every allocation fail or succeed.
    #[arg(long)]
    pub malloc_may_fail: bool,
    /// Where pointers lead that the function of `--entry` gets [default: valid].
    #[arg(long, value_enum)]
    pub pointers: Option<PointerArgs>,
    /// Unless they lead nowhere: elements of an object, if it is no structure [default: 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub pointer_size: Option<u32>,
}

/// Where pointers lead that the entry function gets.
#[derive(Clone, Copy, ValueEnum)]
pub enum PointerArgs {
    /// Null, or the start of an object of its own, whose contents are inputs too.
    Valid,
    /// The same without null.
    Nonnull,
    /// Nowhere: any value, and no object is there.
    Any,
}

/// What a function without a body does.
#[derive(Clone, Copy, ValueEnum)]
pub enum MissingBody {
    /// Changes anything it can reach through its arguments, and globals whose address is taken.
    Havoc,
    /// Changes nothing.
    Pure,
    /// Is an error.
    Error,
}

impl From<MissingBody> for Missing {
    fn from(missing: MissingBody) -> Missing {
        match missing {
            MissingBody::Havoc => Missing::Havoc,
            MissingBody::Pure => Missing::Pure,
            MissingBody::Error => Missing::Error,
        }
    }
}

/// Data models by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum Model {
    /// `gcc -m32`.
    Ilp32,
    /// `gcc -m64`.
    Lp64,
}

impl Model {
    /// The name in witnesses.
    pub fn name(self) -> &'static str {
        match self {
            Model::Ilp32 => "ILP32",
            Model::Lp64 => "LP64",
        }
    }
}

impl From<Model> for DataModel {
    fn from(model: Model) -> DataModel {
        match model {
            Model::Ilp32 => DataModel::Ilp32,
            Model::Lp64 => DataModel::Lp64,
        }
    }
}

/// Arguments of `check`.
#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// A property by name, a property file (.prp), or observer automata (.spc).
    /// Given several times, all of them.
    #[arg(long, value_name = "NAME|FILE")]
    pub property: Vec<String>,
    /// Go on after the first violation: list each one, what is proved, and what is open, by property and place.
    #[arg(long)]
    pub all: bool,
    /// The analysis to run: a name of `palisade analyses`, several with commas between them, or a composite of
    /// components such as location+predicate+interval.
    #[arg(long, default_value = "auto", value_name = "NAME|A,B,..|A+B+..")]
    pub analysis: String,
    /// The merge operator of a composite: never, every component by its own operator where all cover the new
    /// state, or the last component where the others are equal.
    #[arg(long, value_name = "sep|join|equal", value_parser = ["sep", "join", "equal"])]
    pub merge: Option<String>,
    /// The termination check of a composite: one reached state covers the new one, all together do, or never.
    #[arg(long, value_name = "sep|join|never", value_parser = ["sep", "join", "never"])]
    pub stop: Option<String>,
    /// Whether the components of a composite tell each other what they know (reduced) or not (direct).
    #[arg(long, value_name = "reduced|direct", value_parser = ["reduced", "direct"])]
    pub product: Option<String>,
    /// Say `true` only if it rests on no assumption.
    #[arg(long)]
    pub strict: bool,
    /// The numeric domain of an analysis with predicates and numbers.
    #[arg(long, value_parser = numeric_domain, value_name = "DOMAIN")]
    pub numeric: Option<Domain>,
    /// Ask another solver on the PATH as well: it has to agree with everything that a proof rests on.
    #[arg(long, value_enum, value_name = "SOLVER")]
    pub cross_check: Option<CrossCheck>,
    /// CPU time, summed over all threads.
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Memory.
    #[arg(long, default_value = "4GB", value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: u64,
    /// Write a verification witness (format 2.0).
    #[arg(long, value_name = "OUT.yml")]
    pub witness: Option<PathBuf>,
    /// Write what is needed to check the verdict again.
    #[arg(long, value_name = "OUT")]
    pub certificate: Option<PathBuf>,
    /// Write a page that shows the result beside the source.
    #[arg(long, value_name = "OUT.html")]
    pub report: Option<PathBuf>,
    /// Write a SARIF log.
    #[arg(long, value_name = "OUT.sarif")]
    pub sarif: Option<PathBuf>,
    /// Write a C file that makes the program violate the property when it is linked with it
    #[arg(long, value_name = "OUT.c")]
    pub harness: Option<PathBuf>,
    /// Write the abstract reachability graph of the engine that had the answer.
    #[arg(long, value_name = "OUT.dot|OUT.json", value_parser = crate::arg::format)]
    pub arg: Option<String>,
    /// Time on the clock; CPU time is limited by `--time-limit`.
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub wall_limit: Option<Duration>,
    /// Print nothing but the verdict line, and the line of JSON if it is asked for.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the result as one line of JSON, before the verdict line.
    #[arg(long)]
    pub json: bool,
}

/// Solvers that can be asked as well.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CrossCheck {
    /// z3.
    Z3,
    /// cvc5.
    Cvc5,
    /// Bitwuzla.
    Bitwuzla,
}

impl CrossCheck {
    /// How it is started.
    pub fn program(self) -> palisade_logic::process::Program {
        let name = match self {
            CrossCheck::Z3 => "z3",
            CrossCheck::Cvc5 => "cvc5",
            CrossCheck::Bitwuzla => "bitwuzla",
        };
        palisade_logic::process::Program::named(name).expect("all of these are known")
    }
}

/// Arguments of `recheck`.
#[derive(Args)]
pub struct RecheckArgs {
    /// The certificate.
    pub certificate: PathBuf,
    /// The C files, as they were given to `check`.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// Arguments of `validate`.
#[derive(Args)]
pub struct ValidateArgs {
    /// The C files, all that the witness is about.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The witness.
    #[arg(required = true)]
    pub witness: PathBuf,
    /// A property by name, or a property file; otherwise what the witness says.
    #[arg(long, value_name = "NAME|FILE")]
    pub property: Option<String>,
    /// Sizes of `long` and pointers; otherwise what the witness says.
    #[arg(long, value_enum, ignore_case = true)]
    pub data_model: Option<Model>,
    #[command(flatten)]
    pub preprocessor: PreprocessorArgs,
    #[command(flatten)]
    pub world: WorldArgs,
    /// CPU time, summed over all threads.
    #[arg(long, default_value = "90s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Memory.
    #[arg(long, default_value = "4GB", value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: u64,
}

impl ValidateArgs {
    /// How to read the program, given the data model that the witness names.
    pub fn source(&self, stated: &str) -> SourceArgs {
        let stated = if stated.eq_ignore_ascii_case("ilp32") { Model::Ilp32 } else { Model::Lp64 };
        SourceArgs {
            files: self.files.clone(),
            data_model: self.data_model.unwrap_or(stated),
            entry: None,
            preprocessor: self.preprocessor.clone(),
            world: self.world,
        }
    }
}

/// Arguments of `invariants`.
#[derive(Args)]
pub struct InvariantsArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// The numeric domain, for the methods that use one; octagons forward and boxes backward
    /// unless it is given.
    #[arg(long, value_name = "NAME")]
    pub domain: Option<String>,
    /// How invariants are constructed.
    #[arg(long, default_value = "forward", value_name = "NAME")]
    pub method: String,
    /// How the effect of operations on elements of the domain is computed, forward.
    #[arg(long, value_enum, default_value = "syntactic", value_name = "KIND")]
    pub transformers: TransformersArg,
    /// Only the loops of this function.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// CPU time, summed over all threads.
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Memory.
    #[arg(long, default_value = "4GB", value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `cfa`.
#[derive(Args)]
pub struct CfaArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// How to print it.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Only this function, as a picture with source lines; for the formats dot and svg.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
}

/// How transformers are computed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TransformersArg {
    /// Operation by operation.
    Syntactic,
    /// Piece by piece between loop heads, by symbolic abstraction.
    Symbolic,
}

/// Output formats of `cfa`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The form that parses back.
    Text,
    /// Graphviz.
    Dot,
    /// A picture of one function.
    Svg,
    /// JSON.
    Json,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Values for `__VERIFIER_nondet_*`, in order.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "V,V,..")]
    pub input: Vec<i128>,
    /// Where values not given by `--input` come from.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// What the program reads from its standard input.
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// The name that the program is started by [default: that of the first file].
    #[arg(long, value_name = "NAME")]
    pub argv0: Option<String>,
    /// Arguments of the program.
    #[arg(last = true)]
    pub args: Vec<String>,
}

/// Arguments of `solve`.
#[derive(Args)]
pub struct SolveArgs {
    /// An SMT-LIB 2 script.
    pub file: PathBuf,
    /// How it is decided.
    #[arg(long, value_enum, default_value = "blast", value_name = "NAME")]
    pub method: SolveMethod,
    /// How deep case distinctions nest, for Stålmarck's method.
    #[arg(long, default_value_t = 1, value_name = "K")]
    pub depth: u32,
}

/// Ways to decide a script.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolveMethod {
    /// Bit-blasting; QF_BV with arrays and functions.
    Blast,
    /// Symbolic abstraction after Stålmarck: QF_LRA and QF_BV, answers `unsat` or `unknown`.
    Stalmarck,
}

/// Arguments of `bench`.
#[derive(Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub name: BenchName,
}

/// The measurements by name.
#[derive(Subcommand)]
pub enum BenchName {
    /// Table 4 of the EUREKA paper: how large programs with arrays may be.
    Arrays(ArraysArgs),
    /// Table 3 of the BOXES paper: loop invariants of every function by four domains.
    Boxes(BoxesArgs),
    /// How the time of `check` grows with the depth of calls, loops, statements and variables.
    Growth(GrowthArgs),
    /// What the race of engines spends its time on, and what it gains by what they tell each other.
    Portfolio(PortfolioArgs),
    /// The weights of the engines on every class of programs, learnt from what settles tasks.
    Weights(PortfolioArgs),
    /// Figure 14, Table 4 and Figure 15 of the paper on predicates and numbers: templates that grow, and
    /// programs, for six data structures.
    Numpred(NumpredArgs),
    /// Section 5 of the symbolic abstraction paper: diamonds, transformers of basic blocks, and the programs
    /// that symbolic transformers prove.
    Symabs(SymabsArgs),
}

/// Arguments of `bench growth`.
#[derive(Args)]
pub struct GrowthArgs {
    /// Time for each program.
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Only what has this in its name.
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub row: String,
    /// Print the programs of this size instead.
    #[arg(long, value_name = "N", value_parser = largest)]
    pub program: Option<usize>,
}

/// Arguments of `bench portfolio` and `bench weights`.
#[derive(Args)]
pub struct PortfolioArgs {
    /// A folder with verification tasks, their list tasks.json and their properties.
    pub tasks: PathBuf,
    /// Time for each task.
    #[arg(long, default_value = "20s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Only categories that have one of these in their names.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub category: Vec<String>,
    /// One task in so many of each category.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub one_in: u32,
}

impl PortfolioArgs {
    /// Whether tasks of a category are asked for.
    pub fn wants(&self, category: &str) -> bool {
        self.category.is_empty() || self.category.iter().any(|c| category.contains(c.as_str()))
    }
}

/// Arguments of `bench arrays`.
#[derive(Args)]
pub struct ArraysArgs {
    /// Time for each instance.
    #[arg(long, default_value = "20s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// The largest N to try, at least 2.
    #[arg(long, default_value_t = 100_000, value_parser = largest, value_name = "N")]
    pub largest: usize,
    /// Only rows whose name contains this.
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub row: String,
    /// Print the program of the rows for this N instead.
    #[arg(long, value_name = "N", value_parser = largest)]
    pub program: Option<usize>,
    /// Settle the tasks about arrays in this folder instead, with the analyses of arrays and without them.
    #[arg(long, value_name = "DIR")]
    pub tasks: Option<PathBuf>,
}

/// A size of arrays.
fn largest(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 2..=1_000_000_000) => Ok(n),
        _ => Err("expected a number from 2 to 1000000000".into()),
    }
}

/// Arguments of `bench numpred`.
#[derive(Args)]
pub struct NumpredArgs {
    /// The numeric domain.
    #[arg(long, default_value = "poly", value_parser = numeric_domain, value_name = "DOMAIN")]
    pub numeric: Domain,
    /// Time for each size, or program, and data structure.
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Memory for each program and data structure.
    #[arg(long, default_value = "2GB", value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: u64,
    /// More programs for Table 4: a folder with verification tasks and their list tasks.json.
    #[arg(long, value_name = "DIR")]
    pub tasks: Option<PathBuf>,
    /// Their categories.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "ReachSafety-ControlFlow,ReachSafety-Sequentialized",
        value_name = "NAMES"
    )]
    pub category: Vec<String>,
    /// Only tasks whose file is not larger.
    #[arg(long, default_value = "1GB", value_parser = bytes, value_name = "SIZE")]
    pub file_limit: u64,
    /// Write the figures as a picture.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// Arguments of `bench symabs`.
#[derive(Args)]
pub struct SymabsArgs {
    /// The largest number of diamonds; 0 leaves them out.
    #[arg(long, default_value_t = 200, value_name = "D")]
    pub diamonds: u32,
    /// A folder of preprocessed C files for transformers of basic blocks, as scripts/corpus.sh makes one.
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Where the scatter plot of the blocks goes.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// A folder with verification tasks and their list tasks.json; those of the category are proved.
    #[arg(long, value_name = "DIR")]
    pub tasks: Option<PathBuf>,
    /// The category.
    #[arg(long, default_value = "ReachSafety-Loops", value_name = "NAME")]
    pub category: String,
    /// Time for each other solver, and CPU time for each program, domain and kind of transformers.
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Sizes of `long` and pointers in the corpus.
    #[arg(long, value_enum, ignore_case = true, default_value = "lp64")]
    pub data_model: Model,
}

/// Arguments of `bench boxes`.
#[derive(Args)]
pub struct BoxesArgs {
    /// A folder of preprocessed C files, as scripts/corpus.sh makes one.
    #[arg(default_value = "corpus")]
    pub dir: PathBuf,
    /// Sizes of `long` and pointers.
    #[arg(long, value_enum, ignore_case = true, default_value = "lp64")]
    pub data_model: Model,
    /// CPU time for each function and domain.
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub time_limit: Duration,
    /// Memory for each function and domain.
    #[arg(long, default_value = "512MB", value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: u64,
    /// CPU time for each function and domain of PPL [default: as for ours].
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub peer_time_limit: Option<Duration>,
    /// Measure one function in so many, chosen by its name.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub one_in: u64,
    /// Run the domains that LDD Box and LDD Boxes are compared with on one in so many of these.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub peers_one_in: u64,
    /// Let the solver check the invariants of LDD Boxes on one in so many of these, if they have loops (0: none).
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub proofs_one_in: u64,
    /// A file with a line for each function that was measured; what it has already is not measured again.
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Functions that are measured at the same time [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// A numeric domain by its name.
pub fn numeric_domain(name: &str) -> Result<Domain, String> {
    Domain::named(name).ok_or_else(|| {
        let names: Vec<&str> = DOMAINS.iter().map(|d| d.name).collect();
        format!("there is no domain `{name}`; choose one of {}", names.join(", "))
    })
}

/// `90s`, `15min`, `2h`, or a number of seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown unit `{unit}`; use ms, s, min or h")),
    };
    let value: f64 = number.parse().map_err(|_| "expected a number and a unit, as in `60s`".to_string())?;
    Duration::try_from_secs_f64(value * scale).map_err(|e| e.to_string())
}

/// `4GB`, `512MB`, or a number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(format!("unknown unit `{unit}`; use KB, MB or GB")),
    };
    let value: u64 = number.parse().map_err(|_| "expected a number and a unit, as in `4GB`".to_string())?;
    value.checked_mul(scale).ok_or_else(|| "too large".to_string())
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes() {
        assert_eq!(duration("20s"), Ok(Duration::from_secs(20)));
        assert_eq!(duration("1.5min"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("300"), Ok(Duration::from_secs(300)));
        assert!(duration("s").is_err() && duration("3y").is_err() && duration("-1s").is_err());
        assert_eq!(bytes("4GB"), Ok(4 << 30));
        assert_eq!(bytes("512MB"), Ok(512 << 20));
        assert!(bytes("x").is_err() && bytes("99999999999999999GB").is_err());
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
