//! What a witness says, whatever file it came from.

/// One entry of a witness file.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Who says it, and about what.
    pub metadata: Metadata,
    /// What is said.
    pub content: Content,
}

/// The two kinds of entries that can be checked, and the rest.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// `violation_sequence`: a way to a violation.
    Violation(Vec<Segment>),
    /// `invariant_set`: facts that hold at places of the program.
    Invariants(Vec<Invariant>),
    /// Another kind of entry, by name.
    Other(String),
}

/// Where an entry comes from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Metadata {
    /// Version of the format, as in `2.0`.
    pub format_version: String,
    /// A name nobody else uses.
    pub uuid: String,
    /// ISO 8601.
    pub creation_time: String,
    /// The tool that wrote it.
    pub producer: Producer,
    /// The program and the question.
    pub task: TaskInfo,
}

/// A tool.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Producer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The program and the question that a witness is about.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskInfo {
    /// Names of the files.
    pub input_files: Vec<String>,
    /// The SHA-256 of each file, in hexadecimal.
    pub input_file_hashes: Vec<(String, String)>,
    /// The property, as `CHECK` lines or as a bare formula.
    pub specification: String,
    /// `ILP32` or `LP64`.
    pub data_model: String,
    /// `C`.
    pub language: String,
}

/// A part of the way to a violation: what must not be passed, then what is passed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Segment {
    /// Waypoints that are not passed before [`Segment::follow`] is.
    pub avoid: Vec<Waypoint>,
    /// The waypoint that ends the segment.
    pub follow: Waypoint,
}

/// A place with a condition.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Waypoint {
    /// What kind of place.
    pub kind: WaypointKind,
    /// Where.
    pub location: Location,
    /// What holds when it is passed; none means that nothing is asked.
    pub constraint: Option<String>,
    /// Line and column in the witness file.
    pub at: Option<(u64, u64)>,
}

/// The kinds of waypoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WaypointKind {
    /// Before a statement or declaration; the constraint is a C expression.
    Assumption,
    /// After a controlling expression; the constraint is the branch.
    Branching,
    /// After the arguments of a call.
    FunctionEnter,
    /// After a call; the constraint is about `\result`.
    FunctionReturn,
    /// The violation.
    #[default]
    Target,
}

impl WaypointKind {
    /// All kinds with their names in files.
    pub const NAMES: [(WaypointKind, &'static str); 5] = [
        (WaypointKind::Assumption, "assumption"),
        (WaypointKind::Branching, "branching"),
        (WaypointKind::FunctionEnter, "function_enter"),
        (WaypointKind::FunctionReturn, "function_return"),
        (WaypointKind::Target, "target"),
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    /// The file as the witness names it.
    pub file_name: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; none means the leftmost place that suits.
    pub column: Option<u32>,
    /// The function around it.
    pub function: Option<String>,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file_name, self.line)?;
        self.column.map_or(Ok(()), |c| write!(f, ":{c}"))
    }
}

/// A fact that holds whenever a place is reached.
#[derive(Clone, PartialEq, Debug)]
pub struct Invariant {
    /// Before each evaluation of a loop's controlling expression, or before a statement.
    pub kind: InvariantKind,
    /// Where.
    pub location: Location,
    /// A C expression over the variables in scope.
    pub value: String,
    /// Line and column in the witness file.
    pub at: Option<(u64, u64)>,
}

/// The kinds of invariants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InvariantKind {
    /// At the keyword of a loop.
    Loop,
    /// At a statement or declaration.
    Location,
}
