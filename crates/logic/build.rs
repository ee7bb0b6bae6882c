//! Builds the shim around CaDiCaL's proof tracer. It links against the CaDiCaL that the crate
//! `cadical` builds; the definitions are those of that build, on which the layout of the class
//! depends.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/proof.cc")
        .define("NTRACING", None)
        .define("NDEBUG", None)
        .define("QUIET", None)
        .warnings(false)
        .opt_level(2)
        .compile("palisade_sat_shim");
}
