//! Small programs for Table 4, of the kinds that the paper measured: copies into buffers, handshakes, controllers
//! of a casting plant, a kernel's tasks and device drivers. Their first lines say whether they are right.

macro_rules! programs {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../programs/numpred/", $name, ".c")))),*]
    };
}

const PROGRAMS: [(&str, &str); 26] = programs![
    "address_depth",
    "alarm",
    "batches",
    "conveyor",
    "conveyor_bug",
    "copy_line",
    "copy_line_bug",
    "device_lock",
    "dispatch",
    "furnace",
    "handshake_client",
    "handshake_server",
    "header_quotes",
    "interlock",
    "ladle",
    "mould_filling",
    "mould_queue",
    "open_count",
    "power_states",
    "request_completion",
    "request_twice_bug",
    "scheduler",
    "semaphore",
    "transfer",
    "valves",
    "watchdog",
];

/// Name, whether no error is reached, and text of each.
pub fn programs() -> impl Iterator<Item = (&'static str, bool, &'static str)> {
    PROGRAMS.into_iter().map(|(name, text)| (name, text.starts_with("// true"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_cfa::DataModel;

    #[test]
    fn all_can_be_read_and_say_whether_they_are_right() {
        for (name, right, text) in programs() {
            assert!(right || text.starts_with("// false"), "{name}");
            assert!(crate::program(name, text.into(), DataModel::Ilp32).is_some(), "{name}");
        }
        assert!(programs().any(|p| !p.1));
    }
}
